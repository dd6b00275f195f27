# The guard of sidekicks: ends the agents of a program that has died. Started as: sh -c SCRIPT sidekicks-guard MARK BY
# where BY is how processes are listed, "proc" or "ps".
# Reads "+ GROUP START" and "- GROUP START" from its stdin, and "done" when all is well. Its end without that means that
# the owner is dead. POSIX sh, with the tools of POSIX.
trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
unset IFS
export LC_ALL=C
mark=$1 # How a word of SIDEKICKS_AGENT begins for what stems from those agents.
by=$2
groups=

while read -r what group start; do
  case $what in
    +) groups="$groups $group.$start" ;;
    -)
      kept=
      for known in $groups; do
        [ "$known" = "$group.$start" ] || kept="$kept $known"
      done
      groups=$kept
      ;;
    done) exit 0 ;;
  esac
done

# Everybody who is alive, one a line: GROUP PID.START
alive() {
  if [ "$by" = proc ]; then
    for file in /proc/[0-9]*/stat; do
      # A name may hold line feeds and brackets; what counts follows the last bracket.
      stat=
      while read -r line || [ -n "$line" ]; do stat=$line; done <"$file"
      pid=${file#/proc/}
      set -- ${stat##*)}
      case $1 in '' | Z | X | x) ;; *) echo "$3 ${pid%/stat}.${20}" ;; esac
    done
  else
    ps -A -o pid= -o pgid= -o stat= -o lstart= | while read -r pid group state start; do
      set -- $start
      case $state in Z*) ;; *) echo "$group $pid.$1$2$3$4$5" ;; esac
    done
  fi
}

# Which lines of "$now" were in "$then" too.
remaining() {
  echo "$now" | while read -r line; do
    case "
$then
" in *"
$line
"*) echo "$line" ;; esac
  done
}

signal() {
  kill -s "$1" -- "-$2" || kill -s "$1" "-$2" # Without the dashes for busybox, and with them for dash.
}

if [ -n "$groups" ]; then
  # Nobody pins the numbers of the groups any more. A leader that started at another time is somebody else, and later a
  # group is still the same only while somebody is in it who was in it now.
  then=
  now=$(alive)
  for known in $groups; do
    group=${known%%.*}
    other=
    members=
    while read -r at member; do
      [ "$at" = "$group" ] || continue
      members="$members$at $member
"
      # Elsewhere start times are written in another way.
      [ "$by" = proc ] && [ "${member%%.*}" = "$group" ] && [ "$member" != "$known" ] && other=1
    done <<LIST
$now
LIST
    [ -z "$other" ] && [ -n "$members" ] || continue
    then="$then$members"
    signal TERM "$group"
    signal CONT "$group" # A stopped process acts on SIGTERM only then.
  done

  tenths=0
  left=$then
  while [ -n "$left" ] && [ "$tenths" -lt 30 ]; do
    sleep 0.1 || { sleep 1; tenths=$((tenths + 9)); }
    tenths=$((tenths + 1))
    now=$(alive)
    left=$(remaining)
  done
  echo "$left" | while read -r group member; do
    [ -n "$group" ] && signal KILL "$group"
  done
fi

# Whom the agents set apart from their groups. Somebody may start one more while they are looked for.
[ "$by" = proc ] || exit 0
candidates() {
  # Some forms of grep end a line where a C string ends; then everybody is looked at below, which takes longer.
  if printf 'one\0two' | grep -qF two; then
    grep -lsF "$mark" /proc/[0-9]*/environ
  else
    echo /proc/[0-9]*/environ
  fi
}
for round in 1 2 3 4 5 6 7 8; do
  found=
  for file in $(candidates); do
    pid=${file#/proc/}
    pid=${pid%/environ}
    # A value may hold line feeds; only an entry of its own counts.
    marked=$(tr '\n\0' '\001\n' <"$file" | while read -r line; do
      case $line in "SIDEKICKS_AGENT=$mark"* | "SIDEKICKS_AGENT="*" $mark"*) echo yes ;; esac
    done)
    [ -n "$marked" ] && found=1 && kill -s KILL "$pid"
  done
  [ -n "$found" ] || exit 0
  sleep 0.1 || sleep 1
done
