/** Whether only one of list and detail has room. */
class Narrow {
  now = $state(false);

  constructor() {
    const query = window.matchMedia('(max-width: 680px)');
    this.now = query.matches;
    query.addEventListener('change', () => {
      this.now = query.matches;
    });
  }
}

export const narrow = new Narrow();
