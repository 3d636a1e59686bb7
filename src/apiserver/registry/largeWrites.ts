/**
 * Writes of large objects. Each step of one goes over all of the object and takes milliseconds. It therefore takes turns with all other
 * long work of the process, and rests between its steps. A small object is written without a rest: that costs least.
 */

/** A body or a stored object with more bytes is large. Ordinary ones are far smaller; ten times as much takes some milliseconds a step. */
export const LARGE_BYTES = 32 * 1024
/** A body, or an object that is made without one, with more fields and elements is large, however short it is. */
export const LARGE_VALUES = 4000
