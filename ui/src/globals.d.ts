/** Whether the fake transport is part of this build. */
declare const __FAKE__: boolean;
