/**
 * Bodies that are long, or may become long. They are counted, and read as JSON or YAML where they are that, in turn with all other long
 * work.
 */

import { jsonInSteps, type ParsedJson } from '../../../apimachinery/jsonInSteps.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../../apimachinery/protobuf/protobufCodec.ts'
import type { Soon } from '../../../apimachinery/soon.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Work, WorkTurns } from '../../../program/workTurns.ts'
import type { Request } from '../../http/request.ts'
import type { BigYaml } from './bigYaml.ts'
import { isYaml } from './body.ts'
import { beginsAsJson, isLargeBody, isLargeJson, SHORT_BYTES } from './bodyValues.ts'

/** Size of JSON that is parsed in steps; less takes a few milliseconds at most. */
export const STEPS_BYTES = 128 * 1024

export interface LongBodiesDeps {
  bigYaml: Pick<BigYaml, 'wants' | 'toJson'>
  work: Pick<WorkTurns, 'begin'>
}

export class LongBodies {
  readonly #deps: LongBodiesDeps

  constructor(deps: LongBodiesDeps) {
    this.#deps = deps
  }

  /** Reads the body of a request where it may be long. @throws StatusError; Abandoned when its client has gone; also by the promise */
  read(request: Request, body: Buffer): Soon<void> {
    if (body.length > SHORT_BYTES || this.#deps.bigYaml.wants(request.headers['content-type'], body))
      return this.#readLong(request, body)
  }

  async #readLong(request: Request, body: Buffer): Promise<void> {
    const { bigYaml, work } = this.#deps
    const { socket, headers, authorized } = request
    const contentType = headers['content-type']
    const owner = authorized?.space ?? ''
    // Many that arrive together are not handled in one turn of the loop.
    const turn = work.begin({ owner, isAbandoned: () => socket.destroyed })
    if (turn.due) await turn.rest()
    // Most of what is called YAML and begins like JSON is that: then it is parsed once, and in turns.
    const read = isYaml(contentType) && beginsAsJson(body) ? await this.#parsed(body, turn) : undefined
    const isBigYaml = read === undefined && bigYaml.wants(contentType, body)
    // to find out it may have been parsed, and what follows parses it
    if (turn.due) await turn.rest()
    if (!isBigYaml) {
      request.isLarge = isLargeBody(contentType, body)
      const isText = !contentType?.toLowerCase().startsWith(PROTOBUF_MEDIA_TYPE)
      request.parsed = read ?? (isText ? await this.#parsed(body, turn) : undefined)
      return
    }
    const gone = new AbortController()
    const leave = (): void => gone.abort()
    socket.once('close', leave)
    const { json, repeated } = await bigYaml
      .toJson(body, { owner, signal: gone.signal })
      .finally(() => socket.off('close', leave))
    if (turn.due) await turn.rest()
    request.body = json
    request.repeatedKeys = repeated
    request.isLarge = isLargeJson(json)
    request.parsed = await this.#parsed(json, turn)
  }

  /** Malformed JSON gives no error here: its reader reports it. */
  async #parsed(body: Buffer, turn: Work): Promise<ParsedJson | undefined> {
    if (body.length <= STEPS_BYTES) return undefined
    return await inSlices(jsonInSteps(body.toString()), turn)
  }
}
