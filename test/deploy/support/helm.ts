/** The helm that npm brought, and what it makes of the charts. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { PROGRAM_ROOT } from '../../../src/program/programRoot.ts'

const HELM = join(PROGRAM_ROOT, 'node_modules/.bin/helm')
export const CHARTS = join(PROGRAM_ROOT, 'deploy/chart')
export type ChartName = 'orrery' | 'orrery-syncer'

/** Why charts cannot be rendered here, for `skip`. */
export const noHelm: string | false = reason()

function reason(): string | false {
  if (!existsSync(HELM)) return 'npm brought no helm: run npm ci'
  try {
    execFileSync(HELM, ['version'], { stdio: 'pipe' })
    return false
  } catch (error) {
    return `the helm that npm brings is for Linux on amd64: ${(error as Error).message.split('\n')[0]}`
  }
}

export interface Ran {
  code: number | null
  out: string
  err: string
}

export function helm(...args: string[]): Ran {
  const { status, stdout, stderr } = spawnSync(HELM, args, { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

const rendered = new Map<string, readonly KubeObject[]>()

/** The objects of a release `rel` in namespace `ns`. @throws Error with what helm says */
export function render(chart: ChartName, ...args: string[]): readonly KubeObject[] {
  return renderAs('rel', chart, ...args)
}

/** The same values are rendered once. @throws Error with what helm says */
export function renderAs(release: string, chart: ChartName, ...args: string[]): readonly KubeObject[] {
  const values = [release, chart, ...args].join('\n')
  const known = rendered.get(values)
  if (known) return known
  const versions = ['--kube-version', '1.36.0']
  const { code, out, err } = helm('template', release, join(CHARTS, chart), '--namespace', 'ns', ...versions, ...args)
  if (code !== 0) throw new Error(err)
  const objects = parseAllDocuments(out)
    .map(document => document.toJS() as KubeObject | null)
    .filter(object => object !== null)
  rendered.set(values, objects)
  return objects
}

/** The one of a kind. @throws Error when there is none */
export function ofKind(objects: readonly KubeObject[], kind: string): KubeObject {
  const found = objects.find(object => object.kind === kind)
  if (!found) throw new Error(`there is no ${kind} among ${objects.map(object => object.kind).join(', ')}`)
  return found
}

export interface Container {
  name: string
  image: string
  command: string[]
  args: string[]
}

/** Container of the one workload. */
export function containerOf(objects: readonly KubeObject[]): Container {
  const workload = objects.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')
  if (!workload) throw new Error('there is no workload')
  return (workload.spec as { template: { spec: { containers: Container[] } } }).template.spec.containers[0]!
}
