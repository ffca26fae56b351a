/**
 * Runs `work` when asked, never twice at once: whatever asks while it runs gets one more run afterwards. A burst of
 * changes costs two fetches, and the last state is never missed.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        await work();
      } while (again);
    } finally {
      // In the same moment in which nothing more was asked for: whoever asks after it starts anew.
      running = null;
    }
  };
  return () => {
    if (running !== null) {
      again = true;
      return running;
    }
    running = run();
    return running;
  };
}
