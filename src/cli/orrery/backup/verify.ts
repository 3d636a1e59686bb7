/** `orrery backup verify`: reads an archive whole, decodes each object, checks the counts and the sums, and lists its content. */
import { groupResourceName, isRecord } from '../../../apimachinery/object.ts'
import { nameOfKey } from '../../../storage/level/rows.ts'
import type { Stored } from '../../../storage/store.ts'
import { type Host, printFound } from '../host.ts'
import { readArchiveFile } from './archiveFile.ts'
import { Unsealed } from './unsealed.ts'
import { keysLine, shownSize } from './words.ts'

export async function verifyBackup(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { file, keyFile } = settings as { file?: string; keyFile?: string }
  if (file === undefined) throw new Error('name the archive')
  const spaces = new Set<string>()
  const kinds = new Map<string, number>()
  const unsealed = new Unsealed(keyFile)
  const { header, objects, bytes } = await readArchiveFile(file, {
    sealed: sealed => unsealed.take(sealed),
    object({ key, bytes }) {
      assertObject(file, { key, bytes })
      spaces.add(key.space)
      const kind = groupResourceName(key)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    },
  })
  const keys = await unsealed.open(header)
  const { revision, takenAt, program, outside } = header
  const most = [...kinds].sort(([, a], [, b]) => b - a)
  const lines = [
    `whole: ${objects} objects of ${spaces.size} spaces as of revision ${revision}, ${takenAt}, ${shownSize(bytes)}, by ${program}`,
    keys === undefined || header.sealed === undefined
      ? keysLine(header)
      : `${keysLine(header)}, and the key file opens them`,
    ...Object.entries(outside).map(([flag, value]) => `not in it: --${flag} ${value}`),
    ...most.map(([kind, count]) => `  ${kind}  ${count}`),
  ]
  const found = {
    ...{
      kind: 'BackupVerification',
      whole: true,
      file,
      objects,
      bytes,
      spaces: spaces.size,
      revision,
      takenAt,
      program,
    },
    keys: header.sealed?.names ?? [],
    keysOpened: keys !== undefined,
    outside,
    kinds: most.map(([resource, count]) => ({ resource, objects: count })),
  }
  await printFound(settings, lines, found, host)
  return 0
}

/** The text of a row that is intact is an object of its key, as a server reads it. */
function assertObject(file: string, { key, bytes }: Pick<Stored, 'key' | 'bytes'>): void {
  let object: unknown
  try {
    object = JSON.parse(bytes.toString())
  } catch (error) {
    throw new Error(`${file} cannot be restored: the text of ${nameOfKey(key)} is no JSON`, { cause: error })
  }
  const { name, namespace = '' } = isRecord(object) && isRecord(object.metadata) ? object.metadata : {}
  if (name !== key.name || namespace !== key.namespace)
    throw new Error(`${file} cannot be restored: the row of ${nameOfKey(key)} holds another object`)
}
