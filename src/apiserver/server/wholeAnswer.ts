/**
 * Answers as they go over a connection, head and body in one piece: what Node and Fastify make of an answer that has nothing but
 * its body, the headers that are its own, and those of all.
 */

import { CACHE_CONTROL } from '../endpoints/answerPieces.ts'
import { CONTENT_TYPES, type Format } from '../endpoints/negotiate.ts'
import type { Schema } from '../flowcontrol/flowControl.ts'
import { flowHeaders } from './flowHeaders.ts'

// An `import` would read every export of the module, and with that load undici.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

export class WholeAnswers {
  readonly #end: string
  readonly #clock: () => number
  /** Up to the length of the body. */
  readonly #starts: Readonly<Record<Format, WeakMap<Schema, string>>> = {
    json: new WeakMap(),
    yaml: new WeakMap(),
    protobuf: new WeakMap(),
  }
  #second = Number.NaN
  /** From behind the length to the body, in this second. */
  #rest = ''

  /** `clock`: milliseconds since the epoch. */
  constructor({ keepAliveMs, clock = Date.now }: { keepAliveMs: number; clock?: (() => number) | undefined }) {
    this.#end = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`
    this.#clock = clock
  }

  /** With these headers, in their order. */
  with(code: number, headers: ReadonlyMap<string, string | readonly string[]>, body: Buffer): Buffer {
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code]}`
    for (const [name, value] of headers) {
      if (typeof value === 'string') head += `\r\n${name}: ${value}`
      else for (const each of value) head += `\r\n${name}: ${each}`
    }
    return whole(`${head}\r\ncontent-length: ${body.length}${this.#restNow()}`, body)
  }

  /** 200, with this body. */
  of(schema: Schema, { body, format }: { body: Buffer; format: Format }): Buffer {
    return whole(`${this.#startOf(schema, format)}${body.length}${this.#restNow()}`, body)
  }

  #startOf(schema: Schema, format: Format): string {
    const starts = this.#starts[format]
    let start = starts.get(schema)
    if (start === undefined) {
      const lines = [
        ...flowHeaders(schema),
        ['cache-control', CACHE_CONTROL],
        ['content-type', CONTENT_TYPES[format]],
        ['content-length', ''],
      ]
      start = `HTTP/1.1 200 OK\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}`
      starts.set(schema, start)
    }
    return start
  }

  #restNow(): string {
    const second = Math.floor(this.#clock() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#rest = `\r\nDate: ${new Date(second * 1000).toUTCString()}\r\n${this.#end}`
    }
    return this.#rest
  }
}

function whole(head: string, body: Buffer): Buffer {
  const answer = Buffer.allocUnsafe(head.length + body.length)
  body.copy(answer, answer.write(head, 'latin1'))
  return answer
}
