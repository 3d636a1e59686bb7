/**
 * Archives with nothing of the machine that makes them: owners, times and the order of entries are given.
 * @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html "ustar Interchange Format"
 */

const BLOCK = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155

export type TarEntry = {
  /** From the root, without a slash before or behind. */
  path: string
  uid?: number
  gid?: number
} & (
  | { type: 'folder'; mode?: number }
  | { type: 'file'; content: Buffer; mode?: number }
  | { type: 'link'; to: string }
)

const TYPES = { file: '0', link: '2', folder: '5' } as const
const MODES = { file: 0o644, link: 0o777, folder: 0o755 } as const

/** The folders above each entry are entries, too, made here; `date` is that of all. @throws Error for a path that is too long */
export function tarFile(entries: readonly TarEntry[], date: Date): Buffer {
  const all = new Map<string, TarEntry>()
  for (const entry of entries) {
    const parts = entry.path.split('/')
    for (let depth = 1; depth < parts.length; depth++) {
      const path = parts.slice(0, depth).join('/')
      if (!all.has(path)) all.set(path, { path, type: 'folder' })
    }
    all.set(entry.path, entry)
  }
  const sorted = [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  return Buffer.concat([...sorted.flatMap(entry => blocks(entry, date)), Buffer.alloc(2 * BLOCK)])
}

function blocks(entry: TarEntry, date: Date): Buffer[] {
  const content = entry.type === 'file' ? entry.content : Buffer.alloc(0)
  const header = Buffer.alloc(BLOCK)
  const [prefix, name] = split(entry.type === 'folder' ? `${entry.path}/` : entry.path)
  const octal = (value: number, at: number, width: number): void => {
    header.write(value.toString(8).padStart(width - 1, '0'), at, 'latin1')
  }
  header.write(name, 0, 'latin1')
  octal(('mode' in entry ? entry.mode : undefined) ?? MODES[entry.type], 100, 8)
  octal(entry.uid ?? 0, 108, 8)
  octal(entry.gid ?? 0, 116, 8)
  octal(content.length, 124, 12)
  octal(Math.floor(date.getTime() / 1000), 136, 12)
  header.fill(' ', 148, 156)
  header.write(TYPES[entry.type], 156, 'latin1')
  if (entry.type === 'link') header.write(entry.to, 157, NAME_BYTES, 'latin1')
  header.write('ustar\0' + '00', 257, 'latin1')
  header.write(prefix, 345, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]
}

function split(path: string): [prefix: string, name: string] {
  if (path.length <= NAME_BYTES) return ['', path]
  const at = path.indexOf('/', path.length - NAME_BYTES - 1)
  if (at === -1 || at > PREFIX_BYTES || at === path.length - 1) throw new Error(`${path} is too long for an archive`)
  return [path.slice(0, at), path.slice(at + 1)]
}
