/**
 * Answers as they go over a connection, head and body in one piece: what Node and Fastify make of an answer that has nothing but
 * its body, the headers that are its own, and those of all.
 */

import { CACHE_CONTROL } from '../endpoints/answerPieces.ts'
import { CONTENT_TYPES, type Format } from '../endpoints/negotiate.ts'
import type { Schema } from '../flowcontrol/flowControl.ts'
import { flowHeaders } from '../http/flowHeaders.ts'

// An `import` would read every export of the module, and with that load undici.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

export class WholeAnswers {
  /** How long a connection is kept on which nothing is asked. */
  readonly #kept: string
  readonly #clock: () => number
  /** Up to the length of the body. */
  readonly #starts: Readonly<Record<Format, WeakMap<Schema, string>>> = {
    json: new WeakMap(),
    yaml: new WeakMap(),
    protobuf: new WeakMap(),
  }
  #second = Number.NaN
  /** From behind the length to what is said of the connection, in this second. */
  #date = ''

  /** `clock`: milliseconds since the epoch. */
  constructor({ keepAliveMs, clock }: { keepAliveMs: number; clock: () => number }) {
    this.#kept = keptFor(keepAliveMs)
    this.#clock = clock
  }

  /** With these headers, in their order. `keptMs`: its connection is kept for so long, and not for as long as others. */
  with(
    code: number,
    headers: ReadonlyMap<string, string | readonly string[]>,
    body: Buffer,
    keptMs?: number | undefined,
  ): Buffer {
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code]}`
    for (const [name, value] of headers) {
      if (typeof value === 'string') head += `\r\n${name}: ${value}`
      else for (const each of value) head += `\r\n${name}: ${each}`
    }
    const kept = keptMs === undefined ? this.#kept : keptFor(keptMs)
    return whole(`${head}\r\ncontent-length: ${body.length}${this.#dateNow()}${kept}`, body)
  }

  /** 200, with this body. */
  of(schema: Schema, { body, format }: { body: Buffer; format: Format }): Buffer {
    return whole(`${this.#startOf(schema, format)}${body.length}${this.#dateNow()}${this.#kept}`, body)
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

  #dateNow(): string {
    const second = Math.floor(this.#clock() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#date = `\r\nDate: ${new Date(second * 1000).toUTCString()}\r\n`
    }
    return this.#date
  }
}

function keptFor(idleMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs / 1000)}\r\n\r\n`
}

function whole(head: string, body: Buffer): Buffer {
  const answer = Buffer.allocUnsafe(head.length + body.length)
  body.copy(answer, answer.write(head, 'latin1'))
  return answer
}
