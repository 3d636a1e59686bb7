/** Writers of ConfigMaps in one namespace, all at once and at random, and their answers. */
import type { Answer, Api } from './api.ts'
import * as fc from './fastCheck.ts'
import { configMap } from './server.ts'
import type { Acknowledged, Change, Selects } from './watchHistory.ts'
import { type Naming, namedItem, namingOf } from './watchRecords.ts'

export const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }

const anyWrite = fc.record({
  how: fc.constantFrom('create', 'create', 'change', 'change', 'enter', 'leave', 'delete'),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
})
export const anyWriters = fc.array(fc.array(anyWrite, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 5 })
export type Writers = typeof anyWriters extends fc.Arbitrary<infer T> ? T : never

/** The selection `in=yes`. */
export const SELECTOR = 'labelSelector=in%3Dyes'
export const isIn: Selects = ({ content }: Change) =>
  (JSON.parse(content) as { metadata: { labels?: Record<string, string> } }).metadata.labels?.in === 'yes'

/** `undefined` when the connection broke. */
async function answered(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

export class Scenario {
  readonly namespace: string
  readonly path: string
  readonly naming: Naming = namingOf({ space: 'root', group: '', resource: 'configmaps' })
  readonly range: { space: string; group: string; resource: string; namespace: string }
  readonly acknowledged: Acknowledged[] = []

  constructor(namespace: string) {
    this.namespace = namespace
    this.path = `/api/v1/namespaces/${namespace}/configmaps`
    this.range = { space: 'root', group: '', resource: 'configmaps', namespace }
  }

  async begin(api: Api): Promise<void> {
    await api.ok(api.post('/api/v1/namespaces', { metadata: { name: this.namespace } }))
  }

  /**
   * Runs every writer to its end. A refused write is the other writers' doing; a writer whose connection breaks goes on, without an
   * acknowledgement.
   */
  async write(api: Api, writers: Writers): Promise<void> {
    await Promise.all(
      writers.map(async (writes, writer) => {
        for (const [i, { how, name }] of writes.entries()) await this.#write(api, how, name, `${writer} ${i}`)
      }),
    )
  }

  /** A last object, of the selection; returns its revision. */
  async end(api: Api): Promise<number> {
    await this.#put(api.post(this.path, configMap('end', {}, { labels: { in: 'yes' } })))
    return this.acknowledged.at(-1)!.revision!
  }

  async #write(api: Api, how: string, name: string, value: string): Promise<void> {
    const path = `${this.path}/${name}`
    if (how === 'delete') {
      const answer = await answered(api.delete(path))
      if (answer?.code === 200) this.acknowledged.push({ key: this.#key(name), type: 'delete' })
    } else if (how === 'create') await this.#put(api.post(this.path, configMap(name, { value })))
    else if (how === 'change') await this.#put(api.patch(path, 'merge', { data: { value } }))
    else await this.#put(api.patch(path, 'merge', { metadata: { labels: { in: how === 'enter' ? 'yes' : null } } }))
  }

  async #put(asked: Promise<Answer>): Promise<void> {
    const answer = await answered(asked)
    if (answer === undefined) return
    const { code, body, text } = answer
    if (code < 300) this.acknowledged.push({ type: 'put', ...namedItem(this.naming, body) })
    else if (code !== 404 && code !== 409) throw new Error(text)
  }

  #key(name: string): string {
    return this.naming({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: this.namespace, name } })
  }
}
