/** A rollout: one edit goes through a canary to all clusters, a bad one stops at the canary, and an undo brings it back. */
import { join } from 'node:path'
import { num, str } from '../src/apimachinery/fields.ts'
import type { KubeObject } from '../src/apimachinery/object.ts'
import { page, reasonOf } from './expectations.ts'
import type { Observer } from './observer.ts'
import type { Stage } from './stage.ts'

const manifest = (name: string): string => join(import.meta.dirname, 'manifests', name)

/** `space` holds the placement, and the owner of florin takes no drafts there; kubectl speaks to it. */
export async function runRollout(stage: Stage, space: Observer, placement: string): Promise<void> {
  const { shell, kubeconfig, print, title } = stage
  const [florin, guilder] = [stage.clusters.get('florin')!, stage.clusters.get('guilder')!]
  const rollout = (verb: string, ...more: string[]): string[] => ['kubestellar', 'rollout', verb, placement, ...more]
  const ends = (state: string, revision: (number: number) => boolean): Promise<number> =>
    ended(space, placement, state, revision)

  title('A rollout: florin is the canary, and guilder has its turn once florin is healthy')
  await shell.apply(kubeconfig, manifest('placement-staged.yaml'))
  const first = await ends('Done', () => true)
  await shell.apply(kubeconfig, manifest('page-better.yaml'))
  await page(florin, 'florin', 'commonstuff', 'and has a better page.')
  await page(guilder, 'guilder', 'commonstuff', 'and has a better page.')
  const good = await ends('Done', number => number > first)
  await shell.plugin(kubeconfig, rollout('status'))

  title('A bad edit stops at the canary, and guilder keeps what it has')
  await shell.apply(kubeconfig, manifest('page-draft.yaml'))
  const bad = await ends('Failed', number => number > good)
  await page(guilder, 'guilder', 'commonstuff', 'and has a better page.')
  await shell.plugin(kubeconfig, rollout('status'), 1)
  await shell.plugin(kubeconfig, rollout('history', '--revision', String(bad)))

  title('An undo: all clusters go back to the last finished revision, and stay there')
  await shell.plugin(kubeconfig, rollout('undo'))
  await ends('Done', number => number === good)
  await space.until(`EdgePlacement ${placement}`, () => {
    const reason = reasonOf(space.get(`edgeplacements.edge.kubestellar.io ${placement}`)?.object, 'RolledOut')
    return reason === 'Pinned' ? undefined : `expected RolledOut (Pinned), found ${String(reason)}`
  })
  await shell.plugin(kubeconfig, rollout('history'))
  await shell.apply(kubeconfig, manifest('page-new.yaml'))
  await shell.plugin(kubeconfig, rollout('unpin'))
  await page(florin, 'florin', 'commonstuff', 'and has a new page.')
  await page(guilder, 'guilder', 'commonstuff', 'and has a new page.')
  print('mended in the space and released, the newest page is in florin and guilder')
}

/** Waits until the newest rollout has come to a state; answers with its revision. */
async function ended(
  space: Observer,
  placement: string,
  state: string,
  isMeant: (revision: number) => boolean,
): Promise<number> {
  let revision = 0
  await space.until(`a rollout of ${placement}`, () => {
    const newest = rolloutsIn(space, placement).reduce<KubeObject | undefined>(
      (last, one) => (num(one.spec, 'run') > num(last?.spec, 'run') ? one : last),
      undefined,
    )
    revision = num(newest?.spec, 'revision')
    const found = str(newest?.status, 'state')
    return newest && found === state && isMeant(revision)
      ? undefined
      : `expected ${state}, found ${found} for revision ${revision}: ${str(newest?.status, 'message')}`
  })
  return revision
}

function rolloutsIn(space: Observer, placement: string): KubeObject[] {
  const key = `placementrollouts.edge.kubestellar.io ${placement}.`
  return space.keys().flatMap(each => (each.startsWith(key) ? [space.get(each)!.object] : []))
}
