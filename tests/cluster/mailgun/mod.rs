//! The Mailgun provider on a real API server, beside the real core manager, with a stand-in for Mailgun.

mod bed;
mod gates;
mod kills;
mod lost_answers;
mod pod;
mod process;
mod refusals;
mod under_core;
