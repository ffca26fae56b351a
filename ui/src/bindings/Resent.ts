export type Resent = { ok: boolean, message: string, };
