/** Small steps of something long, counted, so that {@link Steps} yield now and then and not each time. */

/** Some milliseconds together. */
const STEP = 512

export class Pace {
  #left = STEP

  /** To be called at each small step: whether to yield behind it. */
  due(): boolean {
    if (--this.#left > 0) return false
    this.#left = STEP
    return true
  }
}
