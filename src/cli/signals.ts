/** How processes are told to end. */

/** Resolves at SIGTERM or SIGINT. A second signal ends the process at once. */
export function terminated(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}
