-- Takes the place of push.lua where a service does not let scripts publish. The scripts send no messages then, so they
-- grant nothing to waiting clients. The client that released sends them a hint afterwards, if it may publish.

local pushes = false

local function hears()
  return false
end

local function tell() end

local function rivals()
  return {}
end

local function announce()
  return 0
end

local function releasesOf() end

local function mayTell()
  return false
end
