import type { SenderItem } from "./SenderItem";
export type SenderSecret = { sender: SenderItem, secret: string | null, };
