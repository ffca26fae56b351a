export type SenderCallback = { name: string, url: string | null, keep_in?: string, };
