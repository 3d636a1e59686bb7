/**
 * How long tests wait. Only what hangs waits so long: a machine that is ten times slower than another one, and busy besides,
 * is none of their findings.
 */

/** How long something may be missing before a test gives up. */
export const PATIENCE_MS = 240_000

/** The same for what only this process and its disk bring about: a test that looks for what never comes shall say so soon. */
export const OWN_PATIENCE_MS = 120_000

/** As PATIENCE_MS, for kubectl's `--timeout`. */
export const PATIENCE = `${PATIENCE_MS / 1000}s`

/** How long a file may run. The runner ends it then; a file that takes more than half a minute says it, for when it runs alone. */
export const FILE_LIMIT_MS = 600_000

/** How long a file that does all within its process may assert nothing: longer than any wait for one thing. */
export const SILENCE_LIMIT_MS = PATIENCE_MS + 60_000
