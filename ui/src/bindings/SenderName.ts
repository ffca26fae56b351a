export type SenderName = { name: string, };
