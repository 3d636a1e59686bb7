/**
 * A program without the data of debuggers (symbols, debug sections): the loaded bytes stay where they are, and unloaded sections are left
 * out. The result is that of `strip`, so a release needs no binutils and is the same with each.
 * @see https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
 */

const MAGIC = 0x464c457f
const CLASS_64 = 2
const LITTLE_ENDIAN = 1
const HEADER = { sectionTable: 40, sectionSize: 58, sectionCount: 60, namesIndex: 62 } as const
const SECTION_BYTES = 64
const SECTION = { name: 0, type: 4, flags: 8, offset: 24, size: 32, link: 40, align: 48 } as const
const TYPE_NO_BITS = 8
const TYPE_STRINGS = 3
const FLAG_ALLOC = 2n
const NAMES = '.shstrtab'

/** @throws Error when it is no program for a 64-bit little-endian machine, or one of an order that we do not know */
export function strippedElf(program: Buffer): Buffer {
  if (program.readUInt32LE(0) !== MAGIC || program[4] !== CLASS_64 || program[5] !== LITTLE_ENDIAN)
    throw new Error('this is no 64-bit little-endian ELF program')
  const count = program.readUInt16LE(HEADER.sectionCount)
  if (program.readUInt16LE(HEADER.sectionSize) !== SECTION_BYTES || count === 0)
    throw new Error('this ELF program has no sections of the usual form')
  const table = Number(program.readBigUInt64LE(HEADER.sectionTable))
  const sections = Array.from({ length: count }, (_, index) =>
    program.subarray(table + index * SECTION_BYTES, table + (index + 1) * SECTION_BYTES),
  )
  const isLoaded = (section: Buffer): boolean => (section.readBigUInt64LE(SECTION.flags) & FLAG_ALLOC) !== 0n
  const lastLoaded = sections.findLastIndex(isLoaded)
  const kept = sections.slice(0, lastLoaded + 1).map(section => Buffer.from(section))
  // Then the numbers by which sections name each other stay right.
  if (!kept.slice(1).every(isLoaded)) throw new Error('in this ELF program sections that are loaded come last')
  if (kept.some(section => section.readUInt32LE(SECTION.link) > lastLoaded))
    throw new Error('in this ELF program a section that is loaded needs one that is not')
  const end = Math.max(...kept.slice(1).map(endOf))

  const oldNames = sections[program.readUInt16LE(HEADER.namesIndex)]!
  const namesAt = Number(oldNames.readBigUInt64LE(SECTION.offset))
  const names = [...kept, undefined].map(section => {
    if (section === undefined) return NAMES
    const start = namesAt + section.readUInt32LE(SECTION.name)
    return program.toString('latin1', start, program.indexOf(0, start))
  })
  const ownNames = Buffer.alloc(SECTION_BYTES)
  ownNames.writeUInt32LE(TYPE_STRINGS, SECTION.type)
  ownNames.writeBigUInt64LE(BigInt(end), SECTION.offset)
  ownNames.writeBigUInt64LE(1n, SECTION.align)
  kept.push(ownNames)
  let nameAt = 0
  for (const [index, section] of kept.entries()) {
    section.writeUInt32LE(nameAt, SECTION.name)
    nameAt += names[index]!.length + 1
  }
  ownNames.writeBigUInt64LE(BigInt(nameAt), SECTION.size)

  const newTable = aligned(end + nameAt, 8)
  const result = Buffer.alloc(newTable + kept.length * SECTION_BYTES)
  program.copy(result, 0, 0, end)
  result.write(names.map(name => `${name}\0`).join(''), end, 'latin1')
  Buffer.concat(kept).copy(result, newTable)
  result.writeBigUInt64LE(BigInt(newTable), HEADER.sectionTable)
  result.writeUInt16LE(kept.length, HEADER.sectionCount)
  result.writeUInt16LE(kept.length - 1, HEADER.namesIndex)
  return result
}

function endOf(section: Buffer): number {
  const size = section.readUInt32LE(SECTION.type) === TYPE_NO_BITS ? 0n : section.readBigUInt64LE(SECTION.size)
  return Number(section.readBigUInt64LE(SECTION.offset) + size)
}

function aligned(at: number, to: number): number {
  return Math.ceil(at / to) * to
}
