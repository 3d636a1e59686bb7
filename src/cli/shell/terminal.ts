/** The terminal of a command, and text that is fit for one. */

// a colour is one of those that tables use, or their end
const STEERING = /(?:\p{Cc}\[(?:0|1|2|31|32|33)m)|(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu
const ESCAPE = String.fromCodePoint(0x1b)

/** Where a command speaks: results on `out`, notes on `err`; each call is one line. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Whether a person looks at `out`. Default: no. */
  readonly isTerminal?: boolean
  /** How wide `out` is, where a person looks at it. */
  readonly columns?: number | undefined
  /** All of standard input, where that is not the process's. */
  readonly input?: string
  /** Puts a question to a person and gives the line that they answer, `''` when they leave. Absent: nobody can answer. */
  ask?(question: string): Promise<string>
}

/** A reader that has seen enough (`… | head`) ends the program, without a word; a full disk does so with one. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`Error: standard output cannot be written: ${error.message}\n`)
    process.exit(1)
  })
  leaveStderr()
}

/** For what lasts: it goes on where nobody can read what it says, because a pipe's reader is gone or a log's disk is full. */
export function outliveReaders(): void {
  process.stdout.once('error', ({ message }) => {
    process.stderr.write(`orrery: standard output cannot be written: ${message}\n`)
    process.stdout.on('error', () => {})
  })
  leaveStderr()
}

/** There is nowhere left to tell it; the exit code says what became of the command. */
function leaveStderr(): void {
  process.stderr.on('error', () => {})
}

export const processTerminal: Terminal = {
  out: line => void process.stdout.write(`${shownText(line)}\n`),
  err: line => void process.stderr.write(`${shownText(line)}\n`),
  isTerminal: process.stdout.isTTY === true,
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : undefined
  },
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const person = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const left = new Promise<string>(resolve => person.once('close', () => resolve('')))
    return await Promise.race([person.question(shownText(question)), left])
  } finally {
    person.close()
  }
}

/**
 * Text for a terminal: names and messages come from clusters and other people. Characters that would steer the terminal, or turn the
 * direction of writing, are shown as numbers. Line ends, tabs and the colours of our own tables stay.
 */
export function shownText(text: string): string {
  return text.replace(STEERING, found => (found.length > 1 && found[0] === ESCAPE ? found : numbered(found)))
}

/** As JSON writes them, so that a document stays one. */
function numbered(found: string): string {
  const [first = ''] = found
  return `\\u${first.codePointAt(0)!.toString(16).padStart(4, '0')}${found.slice(first.length)}`
}
