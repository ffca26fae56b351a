export type Topic = "inbox" | "runs" | "agents" | "senders" | "history" | "status";
