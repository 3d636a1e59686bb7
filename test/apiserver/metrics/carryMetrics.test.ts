/** State of placement as metrics: reported while it is known, and for few clusters. */
import t from 'tap'
import { CarryBoard, CLUSTERS_SHOWN } from '../../../src/apiserver/metrics/carryMetrics.ts'
import { metricText } from '../../../src/apiserver/metrics/metric.ts'
import { newStageTimes } from '../../../src/controllers/placement/mailboxes/copyTimings.ts'

t.test('stages, queues and the clusters that are most behind', async t => {
  const board = new CarryBoard()
  const shown = () => board.metrics().map(metricText).join('')
  t.notMatch(shown(), /[{]/, 'nobody knows')
  const stages = newStageTimes()
  stages.delivered.add(0.5)
  stages.delivered.add(2)
  let asked = 0
  board.show({
    stageTimes: stages,
    lagging(most) {
      asked = most
      return [{ mailbox: 'a-mb-b', objects: 4, seconds: 1.5 }]
    },
    summaries: () => ({ readings: 7, evaluations: 9 }),
    rollouts: () => ({ Running: 2, Failed: 0 }),
  })
  board.showQueues(() => ({ 'placement-translator': 3, 'where-resolver': 0 }))
  const text = shown()
  t.match(text, 'orrery_controller_queue{controller="placement-translator"} 3')
  t.match(text, 'orrery_controller_queue{controller="where-resolver"} 0')
  t.match(text, 'orrery_cluster_lag_objects{mailbox="a-mb-b"} 4')
  t.match(text, 'orrery_cluster_lag_seconds{mailbox="a-mb-b"} 1.5')
  t.match(text, 'orrery_summary_readings 7\n')
  t.match(text, 'orrery_rollouts{state="Running"} 2\norrery_rollouts{state="Failed"} 0\n')
  t.match(text, 'orrery_summary_evaluations_total 9\n')
  t.equal(asked, CLUSTERS_SHOWN)
  t.match(text, 'orrery_placement_stage_duration_seconds_bucket{stage="delivered",le="1"} 1')
  t.match(text, 'orrery_placement_stage_duration_seconds_count{stage="delivered"} 2')
  board.show(undefined)
  board.showQueues(undefined)
  t.notMatch(shown(), /mailbox=|controller=/, 'series end with who knew')
})
