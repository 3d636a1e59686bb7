/**
 * `/statusz`: which program runs, since when, and what it serves; `/configz`: the settings that it runs with. Both are about the whole
 * server. `/statusz` is text for people, and an object on `as=Statusz`, as kube-apiserver has it. `/configz` is an object by component, as
 * Kubernetes' other components have it.
 * @see https://kubernetes.io/docs/reference/instrumentation/zpages/
 */
import type { Soon } from '../../apimachinery/soon.ts'
import { CACHE_CONTROL } from '../http/answer.ts'
import { notAcceptable, preferences } from '../http/negotiate.ts'
import type { PathEntry } from '../http/paths.ts'

const GROUP = 'config.k8s.io'
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1']
const COMPONENT = 'orrery'

interface ZPage {
  readonly contentType: string
  readonly body: string
}

export interface StatuszFacts {
  /** Milliseconds since the epoch. */
  readonly startedMs: number
  readonly nowMs: number
  /** As `/version` says it. */
  readonly version: Readonly<Record<string, string>>
  readonly paths: readonly string[]
}

interface ZPagesDeps {
  /** By the names that they have as flags. */
  settings: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch. */
  startedMs: number
  version(): Promise<Readonly<Record<string, string>>>
}

/** Paths that `/statusz` names, as kube-apiserver's does. */
const STATUSZ_PATHS = ['/configz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']

export function zPages({ settings, startedMs, version }: ZPagesDeps): PathEntry[] {
  const entry = (path: string, page: (accept: string | undefined) => Soon<ZPage>): PathEntry => ({
    path,
    isServerWide: true,
    async handle(request, answer) {
      const { contentType, body } = await page(request.headers.accept)
      answer.header('cache-control', CACHE_CONTROL).type(contentType).send(body)
    },
  })
  return [
    entry('/configz', () => configz(settings)),
    entry('/statusz', async accept =>
      statusz(accept, { startedMs, nowMs: Date.now(), version: await version(), paths: STATUSZ_PATHS }),
    ),
  ]
}

/** @throws StatusError NotAcceptable when only other forms are accepted */
export function statusz(accept: string | undefined, facts: StatuszFacts): ZPage {
  const version = structuredVersion(accept)
  return version === undefined
    ? { contentType: 'text/plain; charset=utf-8', body: statuszText(facts) }
    : { contentType: 'application/json', body: `${JSON.stringify(statuszObject(version, facts))}\n` }
}

/** `settings`: by the names that they have as flags; what was neither given nor has a default is left out. */
function configz(settings: Readonly<Record<string, unknown>>): ZPage {
  return { contentType: 'application/json', body: `${JSON.stringify({ [COMPONENT]: settings })}\n` }
}

/** `undefined`: text. */
function structuredVersion(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '') return undefined
  for (const { media, options } of preferences(accept)) {
    if (media === '*/*' || media === 'text/*' || media === 'text/plain') return undefined
    const version = options.get('v') ?? ''
    const isObject = media === 'application/json' && options.get('g') === GROUP && options.get('as') === 'Statusz'
    if (isObject && VERSIONS.includes(version)) return version
  }
  throw notAcceptable(['text/plain', ...VERSIONS.map(v => `application/json;v=${v};g=${GROUP};as=Statusz`)])
}

function statuszText({ startedMs, nowMs, version, paths }: StatuszFacts): string {
  const lines: readonly (readonly [string, string])[] = [
    ['Started', new Date(startedMs).toUTCString()],
    ['Up', upFor(nowMs - startedMs)],
    ['Runtime', version.goVersion ?? ''],
    ['Binary version', version.gitVersion ?? ''],
    ['Commit', version.gitCommit ?? ''],
    ['Emulation version', emulated(version)],
    ['Paths', paths.join(' ')],
  ]
  const shown = lines.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}\n`)
  return `\n${COMPONENT} statusz\nWarning: this page is for people who look for the cause of something; its form may change.\n\n${shown.join('')}`
}

function statuszObject(apiVersion: string, { startedMs, nowMs, version, paths }: StatuszFacts): object {
  return {
    kind: 'Statusz',
    apiVersion: `${GROUP}/${apiVersion}`,
    metadata: { name: COMPONENT },
    startTime: `${new Date(startedMs).toISOString().slice(0, 19)}Z`,
    uptimeSeconds: Math.max(0, Math.floor((nowMs - startedMs) / 1000)),
    goVersion: version.goVersion,
    binaryVersion: version.gitVersion,
    emulationVersion: emulated(version),
    paths,
  }
}

function emulated({ emulationMajor = '', emulationMinor = '' }: Readonly<Record<string, string>>): string {
  return `${emulationMajor}.${emulationMinor}`
}

/** As `26 hr 03 min 09 sec`. */
function upFor(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`
}
