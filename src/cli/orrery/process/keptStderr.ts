/** The stderr of a server, which may be a file on a full disk. It retains lines without room up to a bound, and the server goes on. */
import pino from 'pino'

const BACKLOG_BYTES = 1024 * 1024

/** Writes lines, those that were kept first. */
export function keptStderr(): (line: string) => void {
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: BACKLOG_BYTES })
  stderr.on('error', () => {})
  return line => void stderr.write(line)
}
