//! Which test holds which quirk.

/// What holds a quirk.
pub(crate) enum Held {
    /// These tests: a file of `tests`, of `src`, or of the crate beside this one, without its `.rs`; then the function.
    By(&'static [&'static str]),
    /// Nothing here, for this reason.
    Elsewhere(&'static str),
}
use Held::{By, Elsewhere};

/// Number, what agents do, and what holds that it is dealt with.
pub(crate) const QUIRKS: &[(u8, &str, Held)] = &[
    (
        18,
        "some answer a higher version than was offered",
        By(&[
            "quirks/sessions::an_agent_of_another_version_is_not_spoken_to",
            "sidekicks-acp/tests/connection/handshake::the_handshake_offers_version_one_and_nothing_that_is_not_there",
        ]),
    ),
    (
        19,
        "the handshake lacks its parts, and names no login although one is needed",
        By(&[
            "turns::content_that_the_agent_does_not_take_is_not_sent",
            "quirks/sessions::a_login_may_be_wanted_by_an_agent_that_names_no_way",
            "sidekicks-acp/src/agent_info::what_is_missing_has_its_default",
        ]),
    ),
    (
        20,
        "a login is wanted at three places, or never as such",
        By(&[
            "streams::a_login_is_needed_to_open_a_session",
            "streams::a_login_is_needed_for_a_prompt",
            "streams::an_error_of_the_agent",
            "sessions::an_agent_remembers_or_is_said_not_to",
            "resending::after_a_login_what_waited_for_it_is_sent_again",
            "quirks/sessions::ways_to_log_in_are_told_as_the_agent_gives_them",
            "quirks/sessions::a_variable_to_log_in_by_is_named",
            "quirks/turns::an_end_is_told_for_what_it_is",
        ]),
    ),
    (
        21,
        "updates come before the answer that names their session",
        By(&[
            "quirks/sessions::what_a_session_tells_before_it_is_known_is_heard",
            "updates::what_an_agent_says_before_the_first_prompt_is_no_answer_to_it",
            "sidekicks-acp/tests/connection/order::what_comes_before_its_session_is_known_follows_the_opening",
        ]),
    ),
    (
        22,
        "the default mode does not ask",
        By(&[
            "settings::mode_and_model_are_set_once_and_again_where_they_change",
            "settings::what_is_not_offered_is_refused_before_anything_is_said",
            "settings::a_mode_is_confirmed_in_every_form",
            "quirks/settings::a_session_that_goes_on_in_a_new_process_is_set_up_again",
        ]),
    ),
    (
        23,
        "modes, models and options overlap",
        By(&[
            "src/wish::each_agent_is_asked_in_the_way_that_it_offers",
            "quirks/settings::a_mode_that_is_offered_in_two_ways_may_be_confirmed_in_either",
            "quirks/settings::a_mode_is_the_same_in_both_ways_in_which_it_is_offered",
        ]),
    ),
    (
        24,
        "a mode is confirmed in five ways, or an unknown one too",
        By(&[
            "settings::a_mode_is_confirmed_in_every_form",
            "quirks/settings::a_mode_that_is_offered_in_two_ways_may_be_confirmed_in_either",
            "quirks/settings::one_can_go_back_from_a_mode_however_it_was_confirmed",
            "quirks/settings::what_is_told_again_is_no_change",
        ]),
    ),
    (
        25,
        "an option may be on or off, and what is offered be refused",
        By(&["quirks/settings::an_option_may_be_on_or_off_and_what_is_offered_may_be_refused"]),
    ),
    (
        26,
        "tool servers are always wanted, and any folder is taken",
        By(&[
            "turns::another_folder_or_other_tool_servers_give_a_new_session",
            "sessions::an_agent_remembers_or_is_said_not_to",
            "quirks/sessions::a_folder_that_is_not_absolute_is_refused_here",
        ]),
    ),
    (
        27,
        "a session that is loaded is replayed, or not known at all",
        By(&[
            "restarts::a_session_that_is_loaded",
            "sessions::an_agent_remembers_or_is_said_not_to",
            "sessions::what_is_told_again_is_no_late_word_of_the_last_turn",
            "replay/unrecorded::a_replay_may_go_on_after_the_answer",
            "replay/unrecorded::one_that_resumes_may_tell_everything_again",
        ]),
    ),
    (28, "a session has one owner", By(&["sessions::an_agent_remembers_or_is_said_not_to"])),
    (29, "lists of sessions differ", Elsewhere("a conversation lists no sessions")),
    (
        30,
        "updates and questions come after the turn, or never end",
        By(&[
            "streams::what_comes_after_the_end_of_a_turn",
            "answering::a_question_outside_a_turn_can_be_answered_or_given_up",
            "liveness::an_agent_is_not_given_back_under_a_question",
            "quirks/turns::an_agent_that_goes_on_after_its_turn_can_be_spoken_to",
        ]),
    ),
    (
        31,
        "a good end does not mean success",
        By(&[
            "updates::a_turn_in_which_nothing_is_said_is_flagged",
            "quirks/turns::an_end_is_told_for_what_it_is",
            "streams::an_error_of_the_agent",
        ]),
    ),
    (
        32,
        "long silence",
        By(&[
            "liveness::silence_is_told_and_ends_with_the_next_word",
            "quirks/turns::an_agent_that_is_silent_for_long_can_still_be_stopped",
        ]),
    ),
    (33, "a retry says it again", By(&["quirks/turns::what_a_retry_says_again_is_kept_as_it_came"])),
    (
        34,
        "housekeeping looks like an answer",
        By(&[
            "updates::what_an_agent_says_before_the_first_prompt_is_no_answer_to_it",
            "sessions::what_is_told_again_is_no_late_word_of_the_last_turn",
        ]),
    ),
    (35, "fragments of every size, empty ones, and the prompt once more", By(&["updates::fragments_make_parts"])),
    (36, "a second prompt meets a running one", By(&["turns::two_prompts_never_overlap"])),
    (
        37,
        "usage has many forms and may count up",
        By(&["quirks/turns::an_end_is_told_for_what_it_is", "quirks/turns::usage_is_what_the_agent_tells_last"]),
    ),
    (
        38,
        "an update or a question comes before its call, or in its place",
        By(&[
            "updates::a_tool_is_told_in_any_order",
            "permissions::an_agent_may_announce_its_tool_by_the_question_alone",
            "quirks/tools::a_question_may_come_before_the_call",
        ]),
    ),
    (39, "a status goes backwards, or on after the end", By(&["updates::a_tool_is_told_in_any_order"])),
    (
        40,
        "a call never ends",
        By(&[
            "quirks/tools::a_call_that_never_ends_leaves_no_spinner",
            "quirks/tools::after_a_cancel_a_call_is_what_the_agent_says_or_cancelled",
            "turns::an_error_ends_the_turn_and_what_waits_is_not_sent",
        ]),
    ),
    (
        41,
        "a call that was cancelled says anything",
        By(&["quirks/tools::after_a_cancel_a_call_is_what_the_agent_says_or_cancelled"]),
    ),
    (
        42,
        "the ids of calls are the model's",
        By(&[
            "updates::the_ids_of_tools_may_repeat_in_a_later_turn",
            "quirks/tools::an_id_means_nothing_in_another_session",
            "quirks/tools::a_question_with_the_id_of_a_call_that_is_done_is_of_another_call",
            "quirks/tools::an_update_that_begins_a_call_that_was_done_is_of_another_call",
        ]),
    ),
    (
        43,
        "kind, title, input and output come late and in any form",
        By(&[
            "updates::a_tool_is_filled_as_it_goes_on",
            "updates::output_comes_in_every_form",
            "permissions::the_command_is_what_is_run_and_never_a_title",
            "src/tool::an_input_that_is_told_as_content_is_the_input",
        ]),
    ),
    (
        44,
        "a terminal that nobody was asked to create",
        By(&["quirks/tools::a_terminal_of_the_agent_is_shown_and_not_looked_for"]),
    ),
    (
        45,
        "agents use files and terminals of the client where it offers them",
        By(&["quirks/questions::what_was_not_offered_to_the_agent_is_refused_at_once"]),
    ),
    (46, "options have any id, order and number", By(&["permissions::options_come_in_one_order_with_all_their_ids"])),
    (
        47,
        "a question names its call by an id alone, or by one that no call has",
        By(&[
            "permissions::it_shows_what_there_is",
            "liveness::what_the_person_refused_is_no_failure",
            "quirks/questions::what_is_refused_under_an_id_that_no_call_has_is_no_failure",
        ]),
    ),
    (
        48,
        "several questions at once",
        By(&["streams::two_tools_at_once", "answering::several_are_open_at_once_and_answered_in_any_order"]),
    ),
    (49, "what follows a refusal", By(&["quirks/questions::a_refusal_is_followed_by_whatever_the_agent_makes_of_it"])),
    (
        50,
        "a cancel waits for the answers to what was asked",
        By(&[
            "cancelling::stop_answers_the_open_questions_and_one_that_crosses_it",
            "quirks/questions::a_question_that_is_stopped_and_taken_back_is_settled_once",
        ]),
    ),
    (51, "some never ask", Elsewhere("then there is no question; a tool is told as any other")),
    (
        52,
        "questions to the person come as forms, as questions for permission, or not at all",
        By(&[
            "quirks/questions::a_form_that_was_not_offered_holds_no_turn_up",
            "quirks/questions::a_question_to_the_person_may_come_as_one_for_permission",
            "quirks/turns::an_agent_that_is_silent_for_long_can_still_be_stopped",
        ]),
    ),
    (
        53,
        "a cancelled turn ends by any name, or not at all",
        By(&[
            "cancelling::it_is_cancelled_whatever_the_agent_calls_it",
            "cancelling::an_agent_that_does_not_obey_is_stopped_and_started_anew",
            "cancelling::a_cancel_may_be_waited_for_as_long_as_it_takes",
        ]),
    ),
    (
        54,
        "a command survives the cancel",
        Elsewhere("it is a process of the agent's, which a conversation does not see"),
    ),
    (
        55,
        "a cancel with nothing running spoils the next prompt",
        By(&[
            "quirks/turns::a_cancel_is_sent_once_and_only_while_a_prompt_is_pending",
            "cancelling::with_nothing_running_nothing_is_sent",
            "turns::what_makes_no_sense_is_refused_and_changes_nothing",
        ]),
    ),
    (
        56,
        "a session can be closed, or not",
        By(&[
            "sessions::nothing_is_recalled_in_another_folder_and_the_old_session_is_closed",
            "quirks/sessions::a_session_that_cannot_be_closed_is_let_go_of",
        ]),
    ),
];
