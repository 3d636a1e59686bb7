/** Reports of the center about an update, an outage and a refusal: each begins on the EdgePlacement, and ends there too. */
import { join } from 'node:path'
import { isRecord } from '../src/apimachinery/object.ts'
import { conditionsOf, page } from './expectations.ts'
import type { Observer } from './observer.ts'
import type { Stage } from './stage.ts'

export interface Placed {
  /** Name of the EdgePlacement that leads to both clusters. */
  readonly placement: string
  /** Has a syncer come back. */
  back(name: string): Promise<void>
}

const manifest = (name: string): string => join(import.meta.dirname, 'manifests', name)

/** `space` holds the placement; kubectl speaks to it. */
export async function runTroubles(stage: Stage, space: Observer, { placement, back }: Placed): Promise<void> {
  const { shell, kubeconfig, print, title } = stage
  const florin = stage.clusters.get('florin')!
  const guilder = stage.clusters.get('guilder')!
  const edit = (file: string) => shell.apply(kubeconfig, manifest(file))
  const applied = (status: string, reason: string) => isApplied(space, placement, status, reason)
  const look = () => shell.show(kubeconfig, 'get', 'edgeplacement', placement)
  const news = (name: string, text: string) =>
    page(stage.clusters.get(name)!, name, 'commonstuff', `This web site is running in ${name}, and has ${text}.`)

  title('An update: the placement says when every cluster has it')
  await applied('True', 'AllApplied')
  await edit('page-new.yaml')
  await news('florin', 'a new page')
  await news('guilder', 'a new page')
  await applied('True', 'AllApplied')
  await look()

  title('An outage: nothing is heard of guilder, and what the center knows of it is stale')
  print('the syncer of guilder stops')
  await stage.stopSyncer('guilder')
  await applied('Unknown', 'Stale')
  await look()
  await edit('page-late.yaml')
  await news('florin', 'the news of tonight')
  print('florin has the news of tonight all the same')

  title('It comes back, and catches up by itself')
  await back('guilder')
  await news('guilder', 'the news of tonight')
  await applied('True', 'AllApplied')
  await look()

  title('A refusal: the owner of florin takes no drafts, and the team reads why')
  const policy = 'validatingadmissionpolicies.admissionregistration.k8s.io no-drafts'
  await shell.apply(stage.clusterKubeconfig('florin'), manifest('no-drafts.yaml'))
  await florin.until('florin: the policy', () => (florin.get(policy) ? undefined : 'it is missing'))
  await edit('page-draft.yaml')
  await page(guilder, 'guilder', 'commonstuff', 'and has a DRAFT.')
  const words = await applied('False', 'Refused')
  if (!words.includes('drafts are not shown in this cluster'))
    throw new Error(`EdgePlacement ${placement} does not say why: ${words}`)
  await look()
  await shell.plugin(kubeconfig, ['kubestellar', 'why', 'configmap/httpd-htdocs', '-n', 'commonstuff'])

  title('Mended in the space, taken in the cluster')
  await edit('page-new.yaml')
  await news('florin', 'a new page')
  await news('guilder', 'a new page')
  await applied('True', 'AllApplied')
  await look()
}

/** Waits until the condition `Applied` of a placement says so of its newest spec; answers with its message. */
async function isApplied(space: Observer, placement: string, status: string, reason: string): Promise<string> {
  let words = ''
  await space.until(`EdgePlacement ${placement}`, () => {
    const object = space.get(`edgeplacements.edge.kubestellar.io ${placement}`)?.object
    const condition = conditionsOf(object).find(({ type }) => type === 'Applied')
    words = isRecord(condition) ? String(condition.message) : ''
    return condition?.status === status && condition.reason === reason
      ? undefined
      : `expected Applied ${status} (${reason}), found ${JSON.stringify(condition)}`
  })
  return words
}
