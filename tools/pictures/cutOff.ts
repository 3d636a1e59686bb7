/** A cluster that is cut off and heals: the center, the link and the cluster along one line of time. */
import { Picture } from './svg.ts'

export function cutOff(): Picture {
  const picture = new Picture(860, 300, 'A cluster is cut off, runs on, and catches up by itself')
  for (const [y, name] of [
    [50, 'center'],
    [150, 'syncer'],
    [250, 'cluster'],
  ] as const)
    picture.text([10, y + 5], name, 'title').line([90, y], [850, y])
  return picture
    .arrow([150, 50], [150, 150])
    .arrow([150, 150], [150, 250])
    .arrow([190, 250], [190, 150])
    .arrow([190, 150], [190, 50])
    .box({ x: 110, y: 12, width: 120, height: 28, title: 'Applied', tone: 'good' })
    .line([300, 50], [300, 150], 'lost')
    .text([308, 104], 'the link is lost', 'small')
    .box({ x: 330, y: 12, width: 140, height: 28, title: 'Stale after 45 s', tone: 'warn' })
    .box({ x: 490, y: 12, width: 130, height: 28, title: 'edits wait' })
    .box({ x: 290, y: 236, width: 330, height: 28, title: 'everything stays and runs; repairs go on', tone: 'good' })
    .arrow([290, 150], [290, 236])
    .arrow([660, 150], [660, 50])
    .text([652, 104], 'the syncer dials in with its cursor', 'small', 'end')
    .arrow([700, 50], [700, 150])
    .text([708, 104], 'only what changed', 'small')
    .arrow([740, 150], [740, 250])
    .arrow([835, 250], [835, 50])
    .box({ x: 730, y: 12, width: 120, height: 28, title: 'Applied', tone: 'good' })
    .text(
      [90, 290],
      'A list that is empty or incomplete deletes nothing. A center restored from a backup, or emptied, deletes nothing unconfirmed.',
      'small',
    )
}
