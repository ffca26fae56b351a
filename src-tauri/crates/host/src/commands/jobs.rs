use crate::dto::{Job, JobRef};
use crate::host::Host;
use crate::{RpcError, code};

pub(crate) fn show(host: &Host, params: &JobRef) -> Result<Job, RpcError> {
    host.jobs().show(&params.job).ok_or_else(|| no_job(&params.job))
}

pub(crate) fn cancel(host: &Host, params: &JobRef) -> Result<Job, RpcError> {
    host.jobs().cancel(&params.job).ok_or_else(|| no_job(&params.job))
}

fn no_job(job: &str) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("There is no job {job}. Jobs are forgotten when Sayso ends."))
}
