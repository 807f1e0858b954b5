
ø/device:TPU:07XLA Modules"€´‰€ÚÄ	" "€œœ9€‡§" pXLA Ops"!€´‰€ÚÄ	"*fwd.1/aten__mm:"$€œœ9€‡§"*aten__mm_backward:"€Éş=À–±"€äì@€’ô"SyncTensorsGraph.12(7)"SyncTensorsGraph.13(8)"%fusion.1 = x"%while.1 = x"%infeed.1 = x"%all-reduce.1 = x*
run_id*	tf_op
“	/host:CPUópython"À–±À¤ÿ" " "€­â€­â"€ÚÄ	€½ƒ"ÀŞ
À¨¥"Àğõ€’ô"€õ²" " "À‹ä€‡§"ÀÑá#ÀØ" " "€Ö$€’ô"	€è’&€­â"
À«¦-ÀÃ“"€°ã-À¨¥"À´ .€‰z"€Â×/" " ’tf_pytorchxla/3"€¡" " "À”ŞÀ·"€™›À„=" "À¦Ò"ÀÆ”0" " "€ËÑ0ÀŸ«"ÀÏ1À–±" "€ï¹4pt_autograd_0"€ñŒ'€›î"	train"fwd"scheduler.step"SyncTensorsGraph" ScheduleSyncTensorsGraph""ThreadpoolListener::Record"1-)PjRtComputationClient::TransferFromDevice"data"		bwd"


StepMarker"SyncLiveTensorsGraph"&"PjRtComputationClient::Compile"'#ThreadpoolListener::StartRegion"1-)PjRtComputationClient::ExecuteComputation"%!PJRT_LoadedExecutable_Execute"&"ThreadpoolListener::StopRegion"MmBackward0*
_r*step_num*_pt*
_p*_ct*
_c*
run_id