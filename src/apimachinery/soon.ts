/**
 * A value that is mostly known at once and sometimes has to be awaited. A promise costs each request about as much as the remembered
 * answer, so a known value goes on in the same step. An error is thrown, or is the promise's.
 */
export type Soon<T> = T | Promise<T>

/** Goes on with a value as soon as it is there. */
export function whenKnown<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
