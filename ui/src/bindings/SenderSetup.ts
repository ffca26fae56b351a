export type SenderSetup = { name: string, initials?: string, colour?: string, max_open?: number, per_minute?: number, may_edit?: boolean, own_choices?: boolean, };
