//! How an embedder uses the sidekicks crates: one idea per program.
