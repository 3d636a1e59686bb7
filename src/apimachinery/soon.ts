/**
 * What is mostly known at once and now and then has to be waited for. A promise costs each request about as much as the answer
 * that is remembered, so what is known goes on in the same step; an error is thrown, or is the promise's.
 */
export type Soon<T> = T | Promise<T>

/** Goes on with a value as soon as it is there. */
export function whenKnown<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
