"""How fast it is, against the bare driver, other engines and the Rust one."""
