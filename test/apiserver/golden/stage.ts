/** A server on which scenes are played one by one, with what they find there. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Test } from 'tap'
import type { AuditEvent } from '../../../src/apiserver/audit/auditEvent.ts'
import { Auditor, type AuditSink } from '../../../src/apiserver/audit/auditor.ts'
import { auditPolicy } from '../../../src/apiserver/audit/policy.ts'
import type { Api } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { auditLine, linesOf } from './normal.ts'
import type { Scene } from './scene.ts'
import { type Answer, Wire } from './wire.ts'

export interface Played {
  readonly answers: readonly string[]
  /** Empty where nothing is recorded. */
  readonly audit: readonly string[]
}

export interface StageOptions {
  readonly isAudited?: boolean
  readonly apiThreads?: number
  /** Each plain request comes behind another one with the same head. */
  readonly isPrimed?: boolean
}

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'None', nonResourceURLs: ['/livez'] }, { level: 'RequestResponse' }],
}

const NOW = new Date('2026-01-01T00:00:00Z')

export class Stage {
  readonly #lines: Lines | undefined
  readonly #options: StageOptions
  readonly #port: number
  readonly #admin: SecureContext
  readonly #nobody = createSecureContext()
  /** Connections that plain requests go on with, as the administrator and as others. */
  readonly #kept = new Map<boolean, Wire>()
  /** Ports of clients whose connections the main thread has. */
  readonly #onMain = new Set<number>()
  /** The id of `root:team`. */
  readonly #team: string
  readonly faults: readonly string[]

  private constructor(
    api: Api,
    { team, faults }: { team: string; faults: readonly string[] },
    lines: Lines | undefined,
    options: StageOptions,
  ) {
    const { url, cert, key } = api.access
    this.#port = Number(new URL(url).port)
    this.#admin = createSecureContext({ cert, key })
    this.#team = team
    this.faults = faults
    this.#lines = lines
    this.#options = options
  }

  static async open(t: Test, options: StageOptions): Promise<Stage> {
    const { isAudited = false, apiThreads = 0 } = options
    const lines = isAudited ? new Lines() : undefined
    const audit = lines && { audit: new Auditor({ clock: Date.now, policy: auditPolicy(POLICY), sink: lines }) }
    const { api, server, faults } = await startTestServer(t, { more: { apiThreads, ...audit } })
    // entries of managedFields stand in the order of their seconds
    Object.assign(server.services.deps, { clock: () => NOW, random: () => 0.5 })
    const team = await furnish(api)
    const stage = new Stage(api, { team, faults }, lines, options)
    if (apiThreads > 0) stage.#followMain(t)
    t.teardown(() => stage.#close())
    return stage
  }

  async play(scene: Scene): Promise<Played> {
    const before = this.#lines?.events.length ?? 0
    const wire = (scene.isPlain ? this.#kept.get(scene.asAdmin) : undefined) ?? (await this.#connect(scene))
    if (this.#options.isPrimed && scene.isPlain) await prime(wire, scene)
    const answers = await answersOn(wire, scene)
    const shown = answers.flatMap(answer => linesOf(answer, scene.isDocument))
    const isOpen = scene.lines !== undefined || scene.isLeft
    const isKept = !isOpen && (await wire.isKept())
    const end = isOpen ? [] : [isKept ? '<the connection is kept>' : '<the connection is closed>']
    if (isKept && scene.isPlain) this.#kept.set(scene.asAdmin, wire)
    else {
      wire.close()
      if (scene.isPlain) this.#kept.delete(scene.asAdmin)
    }
    const audit = await this.#recorded(before, scene, answers)
    const named = (line: string): string => line.replaceAll(this.#team, '<team>')
    return { answers: [...shown, ...end].map(named), audit: audit.map(named) }
  }

  #close(): void {
    for (const wire of this.#kept.values()) wire.close()
  }

  #followMain(t: Test): void {
    const note = (message: unknown): void => {
      const { remotePort } = (message as { socket: Socket }).socket
      if (remotePort !== undefined) this.#onMain.add(remotePort)
    }
    subscribe('net.server.socket', note)
    t.teardown(() => unsubscribe('net.server.socket', note))
  }

  async #connect({ asAdmin }: Scene): Promise<Wire> {
    // the kernel deals connections out
    const isRight = (port: number): boolean => !this.#options.apiThreads || !this.#onMain.has(port)
    const peer = { port: this.#port, shown: asAdmin ? this.#admin : this.#nobody, isRight }
    for (;;) {
      const wire = await Wire.open(peer)
      if (wire !== undefined) return wire
    }
  }

  async #recorded(before: number, { sent }: Scene, answers: readonly Answer[]): Promise<readonly string[]> {
    const lines = this.#lines
    if (lines === undefined) return []
    const events = await lines.completeFrom(before)
    const text = sent.join('')
    const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString()
    const answered = answers.map(answer => answer.body.toString())
    return events.map(event => auditLine(event, body, answered))
  }
}

async function answersOn(wire: Wire, { sent, methods, lines }: Scene): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const part of sent) {
    wire.send(filled(part, answers.at(-1)))
    if (part !== sent.at(-1)) {
      const answer = await wire.answer(methods[0]!)
      if (answer !== undefined) answers.push(answer)
    }
  }
  for (const method of methods.slice(sent.length - 1)) {
    for (;;) {
      const answer = await wire.answer(method, lines)
      if (answer === undefined) return answers
      answers.push(answer)
      if (!answer.head[0]!.startsWith('HTTP/1.1 100')) break
    }
  }
  return answers
}

/** With what the answer before says: `<etag>`, `<revision>`, `<continue>`, `<its uid>`. */
function filled(part: string, before: Answer | undefined): string {
  if (before === undefined || !/<[a-z ]+>/.test(part)) return part
  const body = before.body.toString()
  const found: Record<string, string | undefined> = {
    etag: before.head.find(line => /^etag: /i.test(line))?.slice('etag: '.length),
    revision: /"resourceVersion":"(\d+)"/.exec(body)?.[1],
    continue: /"continue":"([^"]+)"/.exec(body)?.[1],
    'its uid': /"uid":"([^"]+)"/.exec(body)?.[1],
  }
  const whole = part.replaceAll(/<([a-z ]+)>/g, (all, name: string) => found[name] ?? all)
  const length = whole.length - whole.indexOf('\r\n\r\n') - 4
  return whole.replace(/Content-Length: \d+/, `Content-Length: ${length}`)
}

/** The same head, for what changes nothing. */
async function prime(wire: Wire, { sent: [first], methods: [method] }: Scene): Promise<void> {
  const path =
    method === 'GET' ? '/api/v1/namespaces/default' : '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  wire.send(first!.replace(/ \S+ /, ` ${path} `))
  await wire.answer(method!)
}

class Lines implements AuditSink {
  readonly events: AuditEvent[] = []
  #wake = (): void => {}

  write(line: string): void {
    const event = JSON.parse(line) as AuditEvent
    // who writes in the server itself comes from nowhere
    if (event.sourceIPs === undefined) return
    this.events.push(event)
    this.#wake()
  }

  async close(): Promise<void> {}

  /** Events behind the first ones, when all requests have ended: by request, since one may end behind the beginning of the next. */
  async completeFrom(first: number): Promise<readonly AuditEvent[]> {
    for (;;) {
      const requests = new Map<string, AuditEvent[]>()
      for (const event of this.events.slice(first)) {
        if (event.stage === 'RequestReceived') requests.set(event.auditID, [])
        requests.get(event.auditID)?.push(event)
      }
      const all = [...requests.values()]
      if (all.every(events => events.at(-1)!.stage === 'ResponseComplete')) return all.flat()
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }
}

/** Gives the id of the space that it makes. */
async function furnish(api: Api): Promise<string> {
  const team = await createSpace(api, 'team')
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'golden' } }))
  await longRevisions(api)
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer', maximum: 9 }, replicas: { type: 'integer' } } },
      status: { type: 'object', properties: { replicas: { type: 'integer' }, note: { type: 'string' } } },
    },
  }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const version = {
    served: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {}, scale },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  }
  await crdsIn(api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.golden.example.com' },
    spec: {
      group: 'golden.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', storage: true, ...version },
        { name: 'v1beta1', storage: false, deprecated: true, ...version },
      ],
    },
  })
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [
    { verbs: ['access'], nonResourceURLs: ['/'] },
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'] },
  ]
  await api.ok(api.post(`${rbac}/clusterroles`, { metadata: { name: 'reader' }, rules }))
  await api.ok(
    api.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
    }),
  )
  const base = '/api/v1/namespaces/golden/configmaps'
  const maps = { plain: { a: 'b' }, text: { a: 'ä€😀\u0000\n' }, large: { a: 'x'.repeat(200) } }
  for (const [name, data] of Object.entries(maps))
    await api.ok(api.post(base, { metadata: { name, labels: { size: name } }, data }))
  await api.ok(
    api.post('/apis/golden.example.com/v1/namespaces/golden/widgets', {
      apiVersion: 'golden.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { size: 3, replicas: 2 },
    }),
  )
  return team
}

/** From now on revisions have three digits: protobuf holds the length of each. */
async function longRevisions(api: Api): Promise<void> {
  const maps = '/api/v1/namespaces/default/configmaps'
  for (let revision = 0; revision < 99; ) {
    const { metadata } = await api.ok(api.post(maps, { metadata: { name: 'brief' } }))
    await api.ok(api.delete(`${maps}/brief`))
    revision = Number(metadata.resourceVersion)
  }
}
