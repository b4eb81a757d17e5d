// SPDX-License-Identifier: GPL-2.0-or-later
//
// Slurm's records as JSON values. What is absent in Slurm is null.
#pragma once

#include "logic/value.hpp"
#include "slurm_helper/slurm_api.hpp"

namespace muster::slurm_helper {

logic::Value node_value(const node_info_t& node);
logic::Value job_value(const slurm_job_info_t& job);
logic::Value reservation_value(const reserve_info_t& reservation);
logic::Value partition_value(const partition_info_t& partition);
logic::Value config_value(const slurm_conf_t& config);

/// Neither finished nor gone: pending, running, suspended or completing.
bool is_active(const slurm_job_info_t& job);

}  // namespace muster::slurm_helper
