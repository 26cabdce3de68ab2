//! Runs Cepa against recorded behaviour.
#![allow(dead_code)]
mod case;
mod compare;
mod normalise;
mod tags;
fn main() {}
