import type { SenderItem } from "./SenderItem";
export type SenderToken = { sender: SenderItem, token: string, };
