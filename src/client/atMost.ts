/** Does the same with each of some things, so many at a time, and ends when all are done. @throws what the first one threw */
export async function atMost<T>(
  limit: number,
  things: Iterable<T>,
  work: (thing: T) => Promise<unknown>,
): Promise<void> {
  const rest = things[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
