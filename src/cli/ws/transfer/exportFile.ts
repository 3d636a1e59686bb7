/**
 * The file of an exported space: a head, its objects, and an end that counts them. As YAML it is for people, too; an archive is the same as
 * lines of JSON in one frame of zstd with a checksum.
 */
import { createReadStream } from 'node:fs'
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { yaml } from '../../../apimachinery/yaml.ts'
import { CommandError } from '../../shell/commandError.ts'
import { ANSWERS_VERSION } from '../../shell/output.ts'

export interface ExportHead {
  readonly path: string
  /** `root:workload`; `''` where the user may not see it. */
  readonly type: string
  readonly takenAt: string
  readonly program: string
  readonly selector?: string
  /** Whether all Secrets of the space are in it that go to another one. */
  readonly secrets: boolean
}

export interface ExportFile {
  readonly head: ExportHead
  readonly objects: readonly KubeObject[]
}

export type ExportFormat = 'yaml' | 'archive'

const HEAD = 'SpaceExport'
const END = 'SpaceExportEnd'
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** More than a space may hold. */
const LIMIT_BYTES = 1024 * 1024 * 1024
const CUT = 'it was cut short: export the space again'

export function exportText({ head, objects }: ExportFile, format: ExportFormat): Buffer {
  const documents = [
    { apiVersion: ANSWERS_VERSION, kind: HEAD, ...head },
    ...objects,
    { apiVersion: ANSWERS_VERSION, kind: END, objects: objects.length },
  ]
  if (format === 'yaml') {
    const { stringify } = yaml()
    return Buffer.from(documents.map(document => `---\n${stringify(document, { lineWidth: 0 })}`).join(''))
  }
  if (zstdCompressSync === undefined)
    throw new CommandError(`Node.js ${process.version} has no zstd, in which archives are written: take -o yaml`)
  const lines = documents.map(document => `${JSON.stringify(document)}\n`).join('')
  return zstdCompressSync(lines, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
}

/** @throws CommandError that names the file */
export async function readExport(path: string): Promise<ExportFile> {
  const fault = (text: string, cause?: unknown): CommandError => new CommandError(`${path}: ${text}`, 1, { cause })
  let bytes: Buffer
  try {
    bytes = await bytesOf(createReadStream(path))
  } catch (error) {
    throw fault(`it cannot be read: ${messageOf(error)}`, error)
  }
  const isArchive = bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)
  if (isArchive)
    try {
      bytes = await decompressed(bytes)
    } catch (error) {
      const isCut = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
      throw fault(isCut ? CUT : `it was altered since it was written, or is no export: ${messageOf(error)}`, error)
    }
  let documents: unknown[]
  try {
    documents = isArchive ? linesOf(bytes) : yamlOf(bytes)
  } catch (error) {
    throw fault(`it cannot be parsed: ${messageOf(error)}`, error)
  }
  const [head, ...rest] = documents
  if (!isRecord(head) || head.kind !== HEAD)
    throw fault('it is no export of a space: name a file that "kubectl ws export" wrote')
  if (head.apiVersion !== ANSWERS_VERSION)
    throw fault(
      `it is a ${HEAD} of ${String(head.apiVersion)}, and this program reads ${ANSWERS_VERSION}: use the Orrery that wrote it`,
    )
  const end = rest.pop()
  if (!isRecord(end) || end.kind !== END) throw fault(CUT)
  if (end.objects !== rest.length)
    throw fault(
      `it has ${rest.length} objects, and its end counts ${String(end.objects)}: correct the count where you edited it, or export again`,
    )
  const odd = rest.findIndex(object => !isObject(object))
  if (odd >= 0)
    throw fault(
      `document ${odd + 2} is no object with apiVersion, kind and metadata.name, and owners that have all three`,
    )
  const { path: from = '', type = '', takenAt = '', program = '', selector, secrets } = head as Partial<ExportHead>
  return {
    head: {
      path: from,
      type,
      takenAt,
      program,
      ...(selector !== undefined && { selector }),
      secrets: secrets === true,
    },
    objects: rest as KubeObject[],
  }
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of stream) {
    parts.push(part)
    length += part.length
    if (length > LIMIT_BYTES) throw new Error(`it has more than ${LIMIT_BYTES} bytes`)
  }
  return Buffer.concat(parts, length)
}

async function decompressed(bytes: Buffer): Promise<Buffer> {
  const zstd = createZstdDecompress()
  zstd.end(bytes)
  const whole = await bytesOf(zstd)
  if (zstd.bytesWritten !== bytes.length) throw new Error('there is more behind its end')
  return whole
}

function linesOf(bytes: Buffer): unknown[] {
  return bytes
    .toString()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as unknown)
}

function yamlOf(bytes: Buffer): unknown[] {
  const documents = yaml().parseAllDocuments(bytes.toString())
  return [...documents].map(document => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS() as unknown
  })
}

function isObject(value: unknown): value is KubeObject {
  return (
    isRecord(value) &&
    typeof value.apiVersion === 'string' &&
    typeof value.kind === 'string' &&
    isRecord(value.metadata) &&
    typeof value.metadata.name === 'string' &&
    areOwners(value.metadata.ownerReferences ?? [])
  )
}

function areOwners(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      owner => isRecord(owner) && [owner.apiVersion, owner.kind, owner.name].every(part => typeof part === 'string'),
    )
  )
}
