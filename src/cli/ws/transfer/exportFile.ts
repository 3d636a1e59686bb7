/**
 * The file of an exported space: a head, its objects, and an end that counts them. As YAML it is for people, too; an archive is the same as
 * lines of JSON in one frame of zstd with a checksum.
 */
import { constants as bufferConstants } from 'node:buffer'
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
/** Uncompressed. An archive: more than a space may hold. YAML is parsed whole, of one string. */
const LIMIT_BYTES: Readonly<Record<ExportFormat, number>> = {
  archive: 1024 * 1024 * 1024,
  yaml: bufferConstants.MAX_STRING_LENGTH,
}
const CUT = 'it was cut short: export the space again'

/** @throws CommandError where it could not be read again */
export function exportText({ head, objects }: ExportFile, format: ExportFormat, limits = LIMIT_BYTES): Buffer {
  const documents = [
    { apiVersion: ANSWERS_VERSION, kind: HEAD, ...head },
    ...objects,
    { apiVersion: ANSWERS_VERSION, kind: END, objects: objects.length },
  ]
  if (format === 'archive' && zstdCompressSync === undefined)
    throw new CommandError(`Node.js ${process.version} has no zstd, in which archives are written: take -o yaml`)
  const stringify = format === 'yaml' ? yaml().stringify : undefined
  const parts: Buffer[] = []
  let length = 0
  for (const document of documents) {
    const text = stringify ? `---\n${stringify(document, { lineWidth: 0 })}` : `${JSON.stringify(document)}\n`
    const part = Buffer.from(text)
    parts.push(part)
    length += part.length
    if (length > limits[format]) throw new CommandError(tooLong(format, limits))
  }
  const bytes = Buffer.concat(parts, length)
  return format === 'yaml' ? bytes : zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
}

function tooLong(format: ExportFormat, limits: typeof LIMIT_BYTES): string {
  const more = format === 'yaml' ? `take -o archive, or export` : 'export'
  return `the export has more than ${limits[format]} bytes as ${format}: ${more} parts of the space, by -l`
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
    if (length > LIMIT_BYTES.archive) throw new Error(`it has more than ${LIMIT_BYTES.archive} bytes`)
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

/** Line by line: all of it may be longer than a string. */
function linesOf(bytes: Buffer): unknown[] {
  const documents: unknown[] = []
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start)
    const end = found < 0 ? bytes.length : found
    if (end > start) documents.push(JSON.parse(bytes.toString('utf8', start, end)))
    start = end + 1
  }
  return documents
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
