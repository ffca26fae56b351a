/**
 * Runs `work` when asked, never twice at once: whatever asks while it runs gets one more run afterwards. A burst of
 * changes costs two fetches, and the last state is never missed.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    do {
      again = false;
      await work();
    } while (again);
  };
  return () => {
    if (running !== null) {
      again = true;
      return running;
    }
    running = run().finally(() => {
      running = null;
    });
    return running;
  };
}
