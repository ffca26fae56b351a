import type { Outcome } from './chart-data';

/** What an outcome is called where it stands for all kinds of requests. */
export const OUTCOME_WORDS: Record<Outcome, string> = {
  approved: 'Approved',
  answered: 'Answered',
  declined: 'Denied',
  cancelled: 'Cancelled',
  expired: 'Expired',
};
