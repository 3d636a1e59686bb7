/**
 * `meta.v1` Time and MicroTime: seconds and nanoseconds on the wire, RFC 3339 in UTC in JSON. Time keeps whole seconds,
 * MicroTime microseconds; a value of no length is the zero time, which JSON calls null.
 */
import { checkWire, eachField, enter, type Reader, readInt64, WireError, type WireType } from './wire.ts'

const FIRST_SECOND = -62135596800 // 0001-01-01T00:00:00Z, which Go calls zero
const LAST_SECOND = 253402300799 // 9999-12-31T23:59:59Z

interface Timestamp {
  seconds: number
  nanos: number
}

export const TIME: WireType = {
  wire: 2,
  zero: null,
  read: (reader, depth) => {
    const time = readTimestamp(reader, depth)
    return time === undefined ? null : `${toSeconds(time)}Z`
  },
  write: (writer, value) => {
    writer.fork()
    if (typeof value === 'string') writer.uint32(8).int64(parse(value).seconds).uint32(16).int32(0)
    writer.ldelim()
  },
}

export const MICRO_TIME: WireType = {
  wire: 2,
  zero: null,
  read: (reader, depth) => {
    const time = readTimestamp(reader, depth)
    if (time === undefined) return null
    const micros = Math.trunc(time.nanos / 1000)
    return `${toSeconds(time)}.${String(micros).padStart(6, '0')}Z`
  },
  write: (writer, value) => {
    writer.fork()
    if (typeof value === 'string') {
      const { seconds, nanos } = parse(value)
      writer.uint32(8).int64(seconds).uint32(16).int32(nanos)
    }
    writer.ldelim()
  },
}

function readTimestamp(reader: Reader, depth: number): Timestamp | undefined {
  const end = enter(reader, depth)
  if (reader.pos === end) return undefined
  const time: Timestamp = { seconds: 0, nanos: 0 }
  eachField(reader, end, (number, wire) => {
    if (number > 2) return false
    checkWire(number === 1 ? 'Seconds' : 'Nanos', wire, 0)
    if (number === 1) time.seconds = readInt64(reader)
    else time.nanos = reader.int32()
    return true
  })
  if (time.seconds < FIRST_SECOND || time.seconds > LAST_SECOND || time.nanos < 0 || time.nanos > 999_999_999) {
    throw new WireError('a timestamp is outside the years 1 to 9999')
  }
  return time.seconds === FIRST_SECOND && time.nanos === 0 ? undefined : time
}

function toSeconds(time: Timestamp): string {
  return new Date(time.seconds * 1000).toISOString().slice(0, 19)
}

/** Fractions are cut at microseconds. */
function parse(text: string): Timestamp {
  const millis = Date.parse(text)
  if (Number.isNaN(millis)) throw new TypeError(`cannot write ${JSON.stringify(text)} as a time`)
  const fraction = /\.(\d{1,6})/.exec(text)?.[1] ?? ''
  return { seconds: Math.floor(millis / 1000), nanos: Number(fraction.padEnd(6, '0')) * 1000 }
}
