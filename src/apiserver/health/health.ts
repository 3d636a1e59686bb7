/**
 * /livez, /readyz and /healthz, each as a whole or by one check (`/readyz/etcd`), with `?verbose` and `?exclude=`.
 * @see https://kubernetes.io/docs/reference/using-api/health-checks/
 */
import { type Answer, CACHE_CONTROL } from '../http/answer.ts'
import type { PathEntry } from '../http/paths.ts'

/** Whether all is well with a part of the server. */
export type HealthChecks = Readonly<Record<string, HealthCheck>>
type HealthCheck = () => boolean | Promise<boolean>

export interface Health {
  /** Everything that is watched; `/readyz` asks all of it. */
  checks: HealthChecks
  /** Names of checks that are about readiness only: a server that starts or drains is alive. */
  readinessOnly: readonly string[]
}

export function healthPaths({ checks, readinessOnly }: Health): PathEntry[] {
  const alive = Object.entries(checks).filter(([name]) => !readinessOnly.includes(name))
  const entry = (path: string, checks: [string, HealthCheck][]): PathEntry => ({
    path,
    below: () => checks.map(([name]) => `${path}/${name}`),
    handle: (_request, answer, { info }, asks) => answerHealth(checks, answer, asks, info.query),
  })
  return [entry('/healthz', alive), entry('/livez', alive), entry('/readyz', Object.entries(checks))]
}

/** False when there is no such check. */
async function answerHealth(
  checks: [string, HealthCheck][],
  answer: Answer,
  path: string,
  query: URLSearchParams,
): Promise<boolean> {
  const [, endpoint = '', ...rest] = path.split('/')
  answer.type('text/plain; charset=utf-8').header('x-content-type-options', 'nosniff')
  answer.header('cache-control', CACHE_CONTROL)
  if (rest.length === 0) {
    await answerAll(answer, {
      endpoint,
      checks,
      verbose: query.has('verbose'),
      excluded: new Set(query.getAll('exclude')),
    })
    return true
  }
  const check = checks.find(([name]) => name === rest.join('/'))
  if (check === undefined) return false
  const [name, healthy] = check
  if (await healthy()) answer.code(200).send('ok')
  else answer.code(500).send(`internal server error: ${name} is not well\n`)
  return true
}

async function answerAll(
  answer: Answer,
  options: { endpoint: string; checks: [string, HealthCheck][]; verbose: boolean; excluded: ReadonlySet<string> },
): Promise<void> {
  const { endpoint, checks, verbose, excluded } = options
  let failed = false
  const lines: string[] = []
  for (const [name, healthy] of checks) {
    if (excluded.has(name)) lines.push(`[+]${name} excluded: ok`)
    else if (await healthy()) lines.push(`[+]${name} ok`)
    else {
      failed = true
      // As upstream: whoever may not read the log learns no more than the name.
      lines.push(`[-]${name} failed: reason withheld`)
    }
  }
  const unknown = [...excluded].filter(name => !checks.some(([known]) => known === name))
  if (unknown.length > 0) {
    const names = unknown.map(name => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  if (!failed && !verbose) {
    answer.code(200).send('ok')
    return
  }
  lines.push(`${endpoint} check ${failed ? 'failed' : 'passed'}`)
  answer.code(failed ? 500 : 200).send(`${lines.join('\n')}\n`)
}
