/** The time, for whatever shows how long ago or how long yet. Stands still while the page is hidden. */
class Clock {
  now = $state(Date.now());

  constructor() {
    const tick = (): void => {
      if (document.visibilityState === 'visible') this.now = Date.now();
    };
    setInterval(tick, 1000);
    document.addEventListener('visibilitychange', tick);
  }
}

export const time = new Clock();
