/** Players of a history over connections to all threads of a server, each step at random, and the record of each answer. */
import { setTimeout } from 'node:timers/promises'
import { CRDS, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import type { Store } from '../../../src/storage/store.ts'
import type { AnswerRecord, StateAt } from '../../support/answerHistory.ts'
import type { Answer, Api } from '../../support/api.ts'
import type { Seeded } from '../../support/seeded.ts'
import { CONFIGMAPS, configMap } from '../../support/server.ts'
import type { Acknowledged, Change, Seen, Selects, Snapshot, StreamRecord } from '../../support/watchHistory.ts'
import { keyText, type Naming, namedItem, namingOf, seenInLine } from '../../support/watchRecords.ts'
import { isIn, SELECTOR } from '../../support/watchScenario.ts'

const RBAC = 'rbac.authorization.k8s.io'
const ROLES = `/apis/${RBAC}/v1/clusterroles`
const BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`
const SPACES = `/apis/${WORKSPACES.group}/${WORKSPACES.version}/${WORKSPACES.resource}`
const DEFINITIONS = `/apis/${CRDS.group}/${CRDS.version}/${CRDS.resource}`
const WIDGETS = '/apis/shop.example.com/v1/namespaces/default/widgets'
const READS = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }
const NAMES = ['a', 'b', 'c', 'd']
/** The last object that is written. */
const END = 'end'

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const WIDGET = { apiVersion: 'shop.example.com/v1', kind: 'Widget' }

export interface Stage {
  store: Store
  random: Seeded
  /** Id of the space in which all is played; `alice` has no rights there but to enter. */
  space: string
  /** Its path. */
  path: string
  /** In the space, each with connections of its own. */
  admins: readonly Api[]
  alices: readonly Api[]
}

type Told = Pick<AnswerRecord, 'tells' | 'at' | 'suits'>

export class Players {
  readonly answers: AnswerRecord[] = []
  readonly acknowledged: Acknowledged[] = []
  readonly snapshots: Snapshot[] = []
  readonly streams: StreamRecord[] = []
  readonly #stage: Stage
  readonly #configMaps: Naming
  readonly #widgets: Naming
  #values = 0

  constructor(stage: Stage) {
    this.#stage = stage
    this.#configMaps = namingOf({ space: stage.space, group: '', resource: 'configmaps' })
    this.#widgets = namingOf({ space: stage.space, group: 'shop.example.com', resource: 'widgets' })
  }

  /** Everybody at once, each for so many steps. */
  async play(steps: number): Promise<void> {
    const { store, random } = this.#stage
    const role = await this.#admin().ok(this.#admin().post(ROLES, { metadata: { name: 'reader' }, rules: [READS] }))
    const from = Number(role.metadata.resourceVersion)
    const many = async (count: number, step: () => Promise<unknown>): Promise<void> => {
      for (let i = 0; i < count; i++) await step()
    }
    const watchers = [undefined, undefined, isIn].map(selects => this.#watch(from, selects))
    await Promise.all([
      ...NAMES.map(() => many(steps, () => this.#write(random.one(NAMES)))),
      ...NAMES.map(() => many(steps, () => this.#read(this.#admin(), random.one(NAMES)))),
      many(steps, () => this.#changeRights()),
      many(Math.ceil(steps / 16), () => this.#makeSpace()),
      many(Math.ceil(steps / 16), () => this.#define()),
    ])
    await this.#put('end', this.#admin().post(CONFIGMAPS, configMap(END, {}, { labels: { in: 'yes' } })), END)
    await Promise.all(watchers)
    // an answer now covers all
    for (const admin of this.#stage.admins) await this.#read(admin, END)
    if (store.revision < this.answers.at(-1)!.to) throw new Error('the store went back')
  }

  #admin(): Api {
    return this.#stage.random.one(this.#stage.admins)
  }

  /** Sends a request, and records its answer. */
  async #ask(name: string, asked: Promise<Answer>, toldBy: (answer: Answer) => Told): Promise<Answer> {
    const begun = this.answers.length
    const answer = await asked
    const to = this.#stage.store.revision
    this.answers.push({ name: `${this.answers.length} ${name}: ${answer.code}`, begun, to, ...toldBy(answer) })
    return answer
  }

  async #write(name: string): Promise<void> {
    const path = `${CONFIGMAPS}/${name}`
    const key = this.#keyOf(name)
    const data = { value: `${this.#values++}` }
    const how = this.#stage.random.number(5)
    if (how === 0) await this.#delete(path, key)
    else if (how === 1) await this.#put(`create ${name}`, this.#admin().post(CONFIGMAPS, configMap(name, data)), name)
    else if (how === 2) await this.#compareAndWrite(name, data)
    else {
      const labels = this.#stage.random.one([{}, { labels: { in: how === 3 ? 'yes' : null } }])
      await this.#put(`change ${name}`, this.#admin().patch(path, 'merge', { metadata: labels, data }), name)
    }
  }

  /** Creates, or changes what is there. */
  async #put(how: string, asked: Promise<Answer>, name: string): Promise<void> {
    const key = this.#keyOf(name)
    await this.#ask(how, asked, ({ code, body, text }) => {
      if (code === 409) return { suits: state => state(key) !== undefined }
      if (code === 404) return { suits: state => state(key) === undefined }
      if (code >= 300) throw new Error(text)
      return this.#written(body, before => (before === undefined) === (code === 201))
    })
  }

  async #compareAndWrite(name: string, data: Record<string, string>): Promise<void> {
    const key = this.#keyOf(name)
    const { body, code } = await this.#read(this.#admin(), name)
    if (code !== 200) return
    const { resourceVersion } = body.metadata
    const asked = this.#admin().put(`${CONFIGMAPS}/${name}`, configMap(name, data, { resourceVersion }))
    await this.#ask(`replace ${name} of ${resourceVersion}`, asked, ({ code, body, text }) => {
      if (code === 404) return { suits: state => state(key) === undefined }
      if (code === 409) return { suits: state => state(key)?.revision !== Number(resourceVersion) }
      if (code !== 200) throw new Error(text)
      return this.#written(body, before => before?.revision === Number(resourceVersion))
    })
  }

  #written(body: Answer['body'], suits: (before: Change | undefined) => boolean): Told {
    const item = namedItem(this.#configMaps, body)
    this.acknowledged.push({ type: 'put', ...item })
    return { tells: item.revision, at: item.revision - 1, suits: state => suits(state(item.key)) }
  }

  async #delete(path: string, key: string): Promise<void> {
    await this.#ask(`delete ${path}`, this.#admin().delete(path), ({ code, text }) => {
      if (code === 404) return { suits: state => state(key) === undefined }
      if (code !== 200) throw new Error(text)
      this.acknowledged.push({ type: 'delete', key })
      return { tells: { deleted: key } }
    })
  }

  async #read(client: Api, name: string): Promise<Answer> {
    const how = this.#stage.random.number(3)
    if (how === 1) await this.#list('', this.#configMaps, CONFIGMAPS)
    if (how === 2) await this.#list(`?${SELECTOR}`, this.#configMaps, CONFIGMAPS, isIn)
    return this.#ask(`read ${name}`, client.get(`${CONFIGMAPS}/${name}`), answer => this.#seen(answer, name))
  }

  #seen({ code, body, text }: Answer, name: string): Told {
    if (code === 404) return { suits: state => state(this.#keyOf(name)) === undefined }
    if (code !== 200) throw new Error(text)
    const { key, revision, content } = namedItem(this.#configMaps, body)
    const isIt = (found: Change | undefined): boolean => found?.revision === revision && found.content === content
    return { tells: revision, suits: state => isIt(state(key)) }
  }

  async #list(query: string, naming: Naming, path: string, selects?: Selects): Promise<Answer> {
    const ofKind = naming({ apiVersion: '', kind: '', metadata: { namespace: 'default', name: '' } })
    const all: Selects = change => change.key.startsWith(ofKind) && (selects?.(change) ?? true)
    const name = `list ${path}${query}`
    return await this.#ask(name, this.#admin().get(path + query), ({ code, body }) => {
      if (code !== 200) return {}
      const revision = Number(body.metadata.resourceVersion)
      const items = body.items.map(item => namedItem(naming, item))
      this.snapshots.push({ name, revision, items, selects: all })
      return { tells: revision, at: revision }
    })
  }

  async #readAsAlice(alice: Api): Promise<void> {
    const { random, space } = this.#stage
    const name = random.one(NAMES)
    const allowed = (state: StateAt): boolean => {
      const rules = state(keyText({ space, group: RBAC, resource: 'clusterroles', namespace: '', name: 'reader' }))
      return rules?.content.includes('configmaps') === true && ['one', 'two'].some(each => state(this.#binding(each)))
    }
    const begun = this.answers.length
    const answer = await this.#ask(`alice reads ${name}`, alice.get(`${CONFIGMAPS}/${name}`), ({ code }) => ({
      suits: state => allowed(state) === (code !== 403),
    }))
    const { to, ...rest } = this.answers.at(-1)!
    if (answer.code !== 403) this.answers.push({ ...rest, begun, to, ...this.#seen(answer, name) })
  }

  /** Each change is followed by questions over all connections at once. */
  async #changeRights(): Promise<void> {
    const { random, alices } = this.#stage
    const name = random.one(['one', 'two'])
    const how = random.number(4)
    if (how === 0) await this.#delete(`${BINDINGS}/${name}`, this.#binding(name))
    else if (how === 1) {
      const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' }
      const binding = { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'alice', apiGroup: RBAC }] }
      await this.#ask(`bind ${name}`, this.#admin().post(BINDINGS, binding), ({ code, body, text }) => {
        if (code === 409) return { suits: state => state(this.#binding(name)) !== undefined }
        if (code !== 201) throw new Error(text)
        return { tells: Number(body.metadata.resourceVersion) }
      })
    } else {
      const rules = how === 2 ? [READS] : []
      await this.#ask('rules', this.#admin().patch(`${ROLES}/reader`, 'merge', { rules }), ({ body }) => ({
        tells: Number(body.metadata.resourceVersion),
      }))
    }
    await Promise.all(alices.map(alice => this.#readAsAlice(alice)))
  }

  /** A space, from before it is there until it is gone. */
  async #makeSpace(): Promise<void> {
    const { space, path } = this.#stage
    const name = 'child'
    const key = keyText({ space, ...WORKSPACES, namespace: '', name })
    const inside = (): Promise<Answer> => {
      const child = this.#admin().in(`${path}:${name}`)
      return this.#ask('inside', child.get('/api/v1/namespaces/default'), ({ code, body }) => ({
        suits: state =>
          code === 200
            ? state(key)?.content.includes(`"cluster":"${body.metadata.annotations?.['kcp.io/cluster']}"`) === true
            : !state(key)?.content.includes('"phase":"Ready"') || state(key)!.content.includes('deletionTimestamp'),
      }))
    }
    await inside()
    await this.#made(this.#admin().post(SPACES, { metadata: { name } }))
    while ((await inside()).code !== 200) await setTimeout(1)
    while (!(await this.#isReady(`${SPACES}/${name}`))) await inside()
    for (let i = 0; i < 8; i++) await inside()
    await this.#made(this.#admin().delete(`${SPACES}/${name}`))
    do await inside()
    while (!(await this.#isGone(`${SPACES}/${name}`, key)))
    for (let i = 0; i < 8; i++) await inside()
  }

  /** A definition, likewise, and a few objects of its kind. */
  async #define(): Promise<void> {
    const path = `${DEFINITIONS}/${DEFINITION.metadata.name}`
    const { name } = DEFINITION.metadata
    const key = keyText({ space: this.#stage.space, ...CRDS, namespace: '', name })
    const established = '"status":"True","type":"Established"'
    const inside = async (): Promise<Answer> => {
      const begun = this.answers.length
      const answer = await this.#list('', this.#widgets, WIDGETS)
      const suits = (state: StateAt): boolean =>
        answer.code === 200
          ? state(key) !== undefined
          : !state(key)?.content.includes(established) || state(key)!.content.includes('deletionTimestamp')
      this.answers.push({ name: `widgets ${answer.code}`, begun, to: this.#stage.store.revision, suits })
      return answer
    }
    await inside()
    await this.#made(this.#admin().post(DEFINITIONS, DEFINITION))
    while ((await inside()).code !== 200) await setTimeout(1)
    while (!(await this.#isReady(path))) await inside()
    for (const name of NAMES) {
      await this.#made(this.#admin().post(WIDGETS, { ...WIDGET, metadata: { name } }))
      await inside()
    }
    await this.#made(this.#admin().delete(path))
    do await inside()
    while (!(await this.#isGone(path, key)))
    for (let i = 0; i < 4; i++) await inside()
  }

  /** A write without further reads: its answer is known to all. */
  async #made(asked: Promise<Answer>): Promise<void> {
    await this.#ask('write', asked, ({ code, body, text }) => {
      if (code >= 300) throw new Error(text)
      const { resourceVersion } = body.metadata
      return resourceVersion === undefined ? {} : { tells: Number(resourceVersion) }
    })
  }

  async #isReady(path: string): Promise<boolean> {
    const { body, text } = await this.#ask(`state of ${path}`, this.#admin().get(path), ({ body }) => ({
      tells: Number(body.metadata.resourceVersion),
    }))
    const { phase } = (body.status ?? {}) as { phase?: string }
    return phase === 'Ready' || /"type":"Established","status":"True"|"status":"True","type":"Established"/.test(text)
  }

  async #isGone(path: string, key: string): Promise<boolean> {
    const { code } = await this.#ask(`state of ${path}`, this.#admin().get(path), ({ code }) =>
      code === 404 ? { suits: state => state(key) === undefined } : {},
    )
    return code === 404
  }

  /** Follows what is written, from a revision up to the last object, and goes on over another connection every few events. */
  async #watch(from: number, selects: Selects | undefined): Promise<void> {
    const { random, space } = this.#stage
    const ofKind = keyText({ space, group: '', resource: 'configmaps', namespace: 'default', name: '' })
    const all: Selects = change => change.key.startsWith(ofKind) && (selects?.(change) ?? true)
    const query = `watch=1&allowWatchBookmarks=true${selects ? `&${SELECTOR}` : ''}`
    const isLast = (event: Seen): boolean => event.type !== 'BOOKMARK' && event.key === this.#keyOf(END)
    let after = from
    for (let isOver = false; !isOver; ) {
      const watch = await this.#admin().watch(`${CONFIGMAPS}?${query}&resourceVersion=${after}`)
      const seen: Seen[] = []
      const many = 1 + random.number(12)
      while (seen.length < many && !isOver) {
        const line = await watch.next()
        // a thread with much to do ends watches early
        if (line === undefined) break
        const event = seenInLine(this.#configMaps, line)
        const { revision } = event
        const name = `event ${event.type} ${revision}`
        this.answers.push({ name, begun: this.answers.length, to: this.#stage.store.revision, tells: revision })
        seen.push(event)
        isOver = isLast(event)
      }
      watch.close()
      const through = seen.at(-1)?.revision ?? after
      this.streams.push({ name: `watch ${query} ${after}`, after, seen, through, selects: all })
      after = through
    }
  }

  #keyOf(name: string): string {
    return this.#configMaps({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } })
  }

  #binding(name: string): string {
    return keyText({
      space: this.#stage.space,
      group: RBAC,
      resource: 'clusterrolebindings',
      namespace: '',
      name,
    })
  }
}
