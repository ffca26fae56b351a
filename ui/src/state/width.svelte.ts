/** Where only one of list and detail has room, in widths of the letter size: the same as in `base.css`. */
const NARROW_REM = 42.5;

/** Whether only one of list and detail has room. */
class Narrow {
  now = $state(false);

  constructor() {
    const measure = (): void => {
      const size = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
      this.now = window.innerWidth <= NARROW_REM * size;
    };
    measure();
    window.addEventListener('resize', measure);
    new MutationObserver(measure).observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  }
}

export const narrow = new Narrow();
