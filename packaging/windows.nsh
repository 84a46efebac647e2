; Lab Courier is offered under "Open with" for reports, and nobody's program for .json or .xml is replaced: file
; associations of the Tauri CLI would make it the default. Links to a report open it.
!macro NSIS_HOOK_POSTINSTALL
  WriteRegStr SHCTX "Software\Classes\Applications\lab-courier.exe" "FriendlyAppName" "Lab Courier"
  WriteRegStr SHCTX "Software\Classes\Applications\lab-courier.exe\shell\open\command" "" '"$INSTDIR\lab-courier.exe" "%1"'
  WriteRegStr SHCTX "Software\Classes\Applications\lab-courier.exe\SupportedTypes" ".json" ""
  WriteRegStr SHCTX "Software\Classes\Applications\lab-courier.exe\SupportedTypes" ".xml" ""
  WriteRegStr SHCTX "Software\Classes\labcourier" "" "URL:Lab Courier"
  WriteRegStr SHCTX "Software\Classes\labcourier" "URL Protocol" ""
  WriteRegStr SHCTX "Software\Classes\labcourier\shell\open\command" "" '"$INSTDIR\lab-courier.exe" "%1"'
!macroend

!macro NSIS_HOOK_POSTUNINSTALL
  DeleteRegKey SHCTX "Software\Classes\Applications\lab-courier.exe"
  DeleteRegKey SHCTX "Software\Classes\labcourier"
  ; The entry of "start at login", where the person had switched it on.
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "Lab Courier"
!macroend
