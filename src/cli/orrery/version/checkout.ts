/**
 * Which commit a checkout is at, out of the files of its `.git`: the program git may be missing, and costs more than a start.
 * @see https://git-scm.com/docs/gitrepository-layout
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Checkout {
  /** Hexadecimal, in full. */
  commit: string
  /** When the checkout came to be at it; absent where git keeps no log of that. */
  since?: Date
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** Refs that name refs. Git itself follows five. */
const MOST_STEPS = 5
const LINE_BYTES = 8192

/** `undefined` when `root` is not the top of a checkout, or keeps its refs in a form that is not known here. */
export function readCheckout(root: string): Checkout | undefined {
  const dir = gitDir(root)
  const head = textOf(join(dir, 'HEAD'))
  const commit = head && commitOf(head, dir)
  if (!commit) return undefined
  const since = movedTo(commit, dir)
  return { commit, ...(since && { since }) }
}

/** `.git` is a folder, or for further worktrees and submodules a file that names one. */
function gitDir(root: string): string {
  const path = join(root, '.git')
  const named = /^gitdir: (.+)$/m.exec(textOf(path) ?? '')?.[1]
  return named === undefined ? path : resolve(root, named)
}

/** Commit in `HEAD`: the content is a commit, or `ref: ` and the name of a branch. */
function commitOf(head: string, dir: string): string | undefined {
  const common = textOf(join(dir, 'commondir'))
  // A further worktree has a HEAD of its own; branches belong to all.
  const dirs = common === undefined ? [dir] : [dir, resolve(dir, common)]
  let value: string | undefined = head
  for (let step = 0; step <= MOST_STEPS && value !== undefined; step++) {
    if (OBJECT_ID.test(value)) return value
    const name: string | undefined = /^ref: (refs\/\S+)$/.exec(value)?.[1]
    if (name === undefined || name.split('/').includes('..')) return undefined
    value = firstOf(dirs, each => textOf(join(each, name))) ?? firstOf(dirs, each => packedRef(each, name))
  }
  return undefined
}

/** Lines of `packed-refs` are an id, a blank and a name. */
function packedRef(dir: string, name: string): string | undefined {
  const lines = textOf(join(dir, 'packed-refs'))?.split('\n') ?? []
  return lines.find(line => line.endsWith(` ${name}`))?.split(' ')[0]
}

/** The last line of the log of HEAD: from, to, name, <address>, seconds, zone, tab, why. */
function movedTo(commit: string, dir: string): Date | undefined {
  const lines = endOf(join(dir, 'logs', 'HEAD')).split('\n')
  const [, to, seconds] = /^\S+ (\S+) [^\t]*> (\d{1,11}) [+-]\d{4}(?:\t|$)/.exec(lines.at(-1) ?? '') ?? []
  return to === commit ? new Date(Number(seconds) * 1000) : undefined
}

function firstOf<T>(dirs: readonly string[], find: (dir: string) => T | undefined): T | undefined {
  for (const dir of dirs) {
    const found = find(dir)
    if (found !== undefined) return found
  }
  return undefined
}

/** Trimmed; `undefined` for what is no file that can be read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** End of a file that grows for ever, up to the length of a line; `''` for an unreadable one. */
function endOf(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return ''
  }
  try {
    const end = Buffer.alloc(LINE_BYTES)
    const length = readSync(file, end, 0, LINE_BYTES, Math.max(0, fstatSync(file).size - LINE_BYTES))
    return end.toString('utf8', 0, length).trim()
  } finally {
    closeSync(file)
  }
}
