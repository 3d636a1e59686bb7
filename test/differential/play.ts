/** Plays a script to a server: one normalized outcome for each step. */
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'yaml'
import { isRecord } from '../../src/apimachinery/object.ts'
import type { Answer, Api } from '../support/api.ts'
import { Normalizer } from './normalize.ts'
import { type Script, type Step, titleOf } from './script.ts'
import { stepIds } from './stepIds.ts'

export interface Outcome {
  code: number
  /** Only those that clients act upon. */
  headers: Record<string, string>
  body?: unknown
  /** Events of a watch. */
  events?: unknown
}

/** Sender of the requests, as managers of fields see it. */
export const AGENT = 'differential'
const HEADERS = ['content-type', 'warning', 'retry-after', 'location']

export interface PlayOptions {
  /** Leaves out what that release does not know. */
  is120?: boolean
  /** Server with the namespaces, where it is not `api` itself. Such a server learns of all kinds a moment late. */
  core?: Api
}

const SERVED_LIMIT_MS = 20_000

/** @throws Error when the script's own namespace cannot be made */
export async function play(
  api: Api,
  script: Script,
  { is120 = false, core = api }: PlayOptions = {},
): Promise<Outcome[]> {
  const saved = new Map([['ns', `d-${script.name}`]])
  await prepare(core, saved.get('ns')!)
  const normalizer = new Normalizer({ managedFields: script.managedFields === true })
  const ids = stepIds(script.steps)
  const outcomes: Outcome[] = []
  const defined = new DefinedGroups()
  for (const [i, step] of script.steps.entries()) {
    normalizer.enter(ids[i]!)
    if (is120 && step.since !== undefined) {
      outcomes.push({ code: 0, headers: {} })
      continue
    }
    try {
      const request = filled(step, saved)
      if (core !== api || (is120 && defined.has(request))) await untilReady(api, request)
      outcomes.push(await ask(api, request, normalizer, saved))
      defined.note(request)
    } catch (cause) {
      throw new Error(`${script.name}: ${ids[i]} ${titleOf(step)}`, { cause })
    }
  }
  return outcomes
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Groups that a script has defined kinds of: kube-apiserver serves them a moment after it says so. */
class DefinedGroups {
  readonly #groups = new Set<string>()

  has({ path }: Step): boolean {
    return this.#groups.has(path.split('/')[2] ?? '')
  }

  note({ method, path, body }: Step): void {
    if (!path.startsWith(DEFINITIONS)) return
    if (method === 'DELETE') this.#groups.clear()
    const spec = isRecord(body) && !Buffer.isBuffer(body) ? body.spec : undefined
    if (method === 'POST' && isRecord(spec) && !path.includes('dryRun')) this.#groups.add(String(spec.group))
  }
}

/** A namespace that Pods can be created in, as the controllers of a cluster leave it. */
async function prepare(api: Api, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const made = await api.post('/api/v1/namespaces', namespace)
  // two peers may have the namespaces of one
  if (made.code !== 201 && made.code !== 409) throw new Error(`no namespace ${name}: ${made.text}`)
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  const owner = await api.post(`/api/v1/namespaces/${name}/serviceaccounts`, account)
  if (owner.code !== 201 && owner.code !== 409) throw new Error(`no ServiceAccount in ${name}: ${owner.text}`)
}

/** Until the path has a handler (else it is answered in plain text) that is initialized, and does what the step waits for. */
async function untilReady(api: Api, { method, path, body, late }: Step): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < SERVED_LIMIT_MS) {
    const { code, text } = await api.get(path.replace(/\?.*/, ''))
    const isServed = code !== 429 && (code !== 404 || !text.startsWith('404 page not found'))
    if (isServed && (late === undefined || (await api.send(method, path, { body })).code === late)) return
    await pause(20)
  }
}

function filled(step: Step, saved: ReadonlyMap<string, string>): Step {
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => saved.get(name) ?? whole)
  const body =
    step.body === undefined || Buffer.isBuffer(step.body)
      ? step.body
      : typeof step.body === 'string'
        ? fill(step.body)
        : (JSON.parse(fill(JSON.stringify(step.body))) as unknown)
  return { ...step, path: fill(step.path), ...(body !== undefined && { body }) }
}

async function ask(api: Api, step: Step, normalizer: Normalizer, saved: Map<string, string>): Promise<Outcome> {
  const headers = {
    'User-Agent': `${AGENT}/1.0`,
    ...step.headers,
    ...(step.as && { 'Impersonate-User': step.as }),
  }
  if (step.watch !== undefined) {
    const watch = await api.watch(step.path, headers)
    const events = await watch.take(step.watch)
    watch.close()
    return { code: 200, headers: {}, events: events.map(event => shown(normalizer.body(event), step.only)) }
  }
  if (step.until !== undefined) {
    const watch = await api.watch(step.path, headers)
    await watch.until(event => JSON.stringify(event).includes(step.until!))
    watch.close()
    return { code: 200, headers: {} }
  }
  const { method, path, body, type } = step
  const answer = await api.send(method, path, { ...(body !== undefined && { body }), ...(type && { type }), headers })
  for (const [name, at] of Object.entries(step.save ?? {})) {
    const value = valueAt(answer.body, at)
    if (value === undefined) throw new Error(`${method} ${path}: no ${at} to save in ${answer.text}`)
    saved.set(name, String(value))
  }
  return outcomeOf(answer, step, normalizer)
}

function outcomeOf(answer: Answer, { only }: Step, normalizer: Normalizer): Outcome {
  const kept = HEADERS.flatMap(name => {
    const value = answer.headers[name]
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  const isYaml = answer.headers['content-type'] === 'application/yaml'
  const text = answer.text.startsWith('{') || isYaml ? undefined : normalizer.text(answer.text)
  const body = text ?? normalizer.body(isYaml ? parse(answer.text) : answer.body)
  return { code: answer.code, headers: Object.fromEntries(kept), body: shown(body, only) }
}

function shown(body: unknown, only: readonly string[] | undefined): unknown {
  if (only === undefined) return body
  return Object.fromEntries(only.map(path => [path, valueAt(body, path)]))
}

/** Steps are separated by dots; `*` makes a list of what is there in each member. */
function valueAt(value: unknown, path: string): unknown {
  const [step, ...rest] = path.split('.')
  if (step === undefined || step === '') return value
  const next = rest.join('.')
  if (step === '*') return Object.values(value ?? {}).map(member => valueAt(member, next))
  if (Array.isArray(value)) return valueAt(value[Number(step)], next)
  return isRecord(value) ? valueAt(value[step.replaceAll('~1', '.')], next) : undefined
}
