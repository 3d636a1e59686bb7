/** `kubectl ws budget`: what the current space and its children hold, and may hold. */
import { isRecord } from '../../apimachinery/object.ts'
import { spacePath } from '../../client/http/paths.ts'
import { bytesText } from '../../placement/spaces/spaceBudget.ts'
import { CommandError } from '../shell/commandError.ts'
import { columns, type DocumentOptions, printAnswer } from '../shell/output.ts'
import { askServer, currentPath, type SessionOptions, withSession } from '../shell/session/session.ts'
import type { Terminal } from '../shell/terminal.ts'

const HEAD = ['NAME', 'OBJECTS', 'LIMIT', 'BYTES', 'LIMIT', 'UPSYNCED', 'LIMIT']
/** Where there are any. */
const FLEET_HEAD = ['SYNCTARGETS', 'LIMIT']
/** In the root: the server has a limit. */
const SERVER_HEAD = ['SPACES', 'LIMIT']

export async function budgetCommand(options: SessionOptions & DocumentOptions, terminal: Terminal): Promise<void> {
  await withSession(options, async session => {
    const path = await currentPath(session)
    const document = await askServer(session, { method: 'GET', path: `${spacePath(session.base, path)}/budget` })
    if (!isRecord(document) || document.kind !== 'SpaceBudget' || !Array.isArray(document.children))
      throw new CommandError(`the server does not tell the budget of ${path}`)
    const children = document.children.filter(isRecord)
    const names = () => [path, ...children.map(({ name }) => `${path}:${name}`)]
    const all = [document, ...children]
    const hasFleet = all.some(({ used }) => isRecord(used) && Number(used.syncTargets) > 0)
    const hasSpaces = isRecord(document.limits) && document.limits.spaces !== undefined
    const rows = all.map((space, i) => rowOf(i === 0 ? '.' : String(space.name), space, { hasFleet, hasSpaces }))
    const head = [...HEAD, ...(hasFleet ? FLEET_HEAD : []), ...(hasSpaces ? SERVER_HEAD : [])]
    await printAnswer({ document, names, text: () => columns([head, ...rows]) }, options.output, terminal)
  })
}

function rowOf(
  name: string,
  { used, limits }: Record<string, unknown>,
  { hasFleet, hasSpaces }: { hasFleet: boolean; hasSpaces: boolean },
): string[] {
  const count = (of: unknown, measure: string, text: (amount: number) => string): string => {
    const amount = isRecord(of) ? of[measure] : undefined
    return typeof amount === 'number' ? text(amount) : '-'
  }
  const pair = (measure: string, usedText: (amount: number) => string, limitText = usedText): string[] => [
    count(used, measure, usedText),
    count(limits, measure, limitText),
  ]
  const own = [...pair('objects', String), ...pair('bytes', roughBytes, bytesText), ...pair('carriedObjects', String)]
  return [name, ...own, ...(hasFleet ? pair('syncTargets', String) : []), ...(hasSpaces ? pair('spaces', String) : [])]
}

/** Three digits or so are enough for who looks. */
function roughBytes(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)}${['', 'Ki', 'Mi', 'Gi'][power]}`
}
